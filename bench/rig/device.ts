import type { IncomingMessage } from "node:http";
import WebSocket from "ws";
import type { InboxRow } from "#contract/conversations.ts";
import { type ConversationId, createUuid } from "#contract/ids.ts";
import { receiptCoalesceMs } from "#contract/limits/delivery.ts";
import { creditReportMessages } from "#contract/limits/sockets.ts";
import type { ClientFrame } from "#contract/wire/client-frames.ts";
import { toSendFrame } from "#contract/wire/command-frames.ts";
import { fromWireRow } from "#contract/wire/compact-encoding.ts";
import {
  decodeServerFrame,
  encodeFrame,
  joinFrames,
  type LiveText,
  protocolVersion,
  type ServerFrame,
} from "#contract/wire/server-frames.ts";
import type { Person } from "./person.ts";

const socketPath = "/api/socket";

const connectTimeoutMs = 60_000;

export type DeviceOptions = {
  /** Whether the device reports deliveries, as the app does. */
  reportsDelivery?: boolean;
  /** Epoch and counter of an earlier welcome, for a device that was connected before. */
  cursor?: [string, number];
  /** Called with every frame on the wire. */
  onFrame?: (direction: "in" | "out", frame: string) => void;
};

/** Opens a socket; after a 429 it waits as long as the server asks. */
async function openSocket(person: Person): Promise<WebSocket> {
  const deadline = Date.now() + connectTimeoutMs;
  for (;;) {
    const socket = new WebSocket(person.origin.replace("http", "ws") + socketPath, {
      perMessageDeflate: false,
      headers: { authorization: `Bearer ${person.token}`, origin: person.origin },
    });
    const refused = await new Promise<IncomingMessage | undefined>((resolve, reject) => {
      socket.once("open", () => resolve(undefined));
      socket.once("unexpected-response", (_request, response) => resolve(response));
      socket.once("error", reject);
    });
    if (!refused) return socket;
    const waitMs = Number(refused.headers["retry-after"]) * 1000;
    if (refused.statusCode !== 429 || !(waitMs > 0) || Date.now() + waitMs > deadline) {
      throw new Error(`The upgrade was refused with ${refused.statusCode}`);
    }
    refused.resume();
    await new Promise((resolve) => setTimeout(resolve, waitMs));
  }
}

/**
 * Device on the product's socket that behaves like the app: sends hello, confirms received messages, and reports
 * "delivered" once per coalescing period. It has no store.
 */
export class Device {
  onText: (seq: number, text: string, at: number) => void = () => {};
  onAck: (ref: number, seq: number, at: number) => void = () => {};
  readonly rows = new Map<ConversationId, InboxRow>();
  private readonly socket: WebSocket;
  private readonly options: DeviceOptions;
  private readonly unwritten: string[] = [];
  private receivedCount = 0;
  private highestSeq = 0;
  private receiptTimer: NodeJS.Timeout | undefined;

  private constructor(socket: WebSocket, options: DeviceOptions) {
    this.socket = socket;
    this.options = options;
  }

  static async connect(person: Person, options: DeviceOptions = {}): Promise<Device> {
    const socket = await openSocket(person);
    const device = new Device(socket, options);
    const welcomed = new Promise<void>((resolve, reject) => {
      socket.once("close", (code) => reject(new Error(`The socket closed with ${code} before its welcome`)));
      socket.on("message", (data) => {
        const at = performance.now();
        if (device.receive(String(data), at) === "w") resolve();
      });
    });
    const [epoch, counter] = options.cursor ?? ["", 0];
    device.write(["h", protocolVersion, epoch, counter]);
    await welcomed;
    return device;
  }

  /** Inbox row of a conversation, waiting until it arrives. */
  async waitForRow(conversation: ConversationId): Promise<InboxRow> {
    for (let tries = 0; tries < 100; tries++) {
      const row = this.rows.get(conversation);
      if (row) return row;
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    throw new Error("The conversation did not appear in the inbox");
  }

  send(ref: number, conversation: number | ConversationId, text: string): void {
    this.write(toSendFrame(ref, conversation, { cid: createUuid(), body: { type: "text", text } }));
  }

  write(frame: ClientFrame): void {
    if (this.unwritten.push(encodeFrame(frame)) > 1) return;
    queueMicrotask(() => {
      for (const text of joinFrames(this.unwritten.splice(0))) {
        this.options.onFrame?.("out", text);
        this.socket.send(text);
      }
    });
  }

  close(): void {
    clearTimeout(this.receiptTimer);
    this.socket.terminate();
  }

  private receive(data: string, at: number): string {
    this.options.onFrame?.("in", data);
    const frame = decodeServerFrame(data);
    if (!frame) throw new Error(`Not a frame of the protocol: ${data.slice(0, 100)}`);
    if ("event" in frame) return frame.payload.event_type;
    if (!Array.isArray(frame)) {
      this.handleText(frame.handle, frame.seq, frame.text, at);
      return "text";
    }
    this.handleFrame(frame, at);
    return frame[0];
  }

  private handleFrame(frame: Exclude<ServerFrame, LiveText>, at: number): void {
    switch (frame[0]) {
      case "w":
      case "c": {
        for (const row of frame[5]) this.saveRow(fromWireRow(row, frame[4]));
        return;
      }
      case "i":
        this.saveRow(fromWireRow(frame[2], 0));
        return;
      case "m":
        for (const [seq, , , body] of frame[3])
          this.handleText(frame[2], seq, typeof body === "string" ? body : "", at);
        this.handleAcks(frame[4] ?? [], at);
        return;
      case "a":
        this.handleAcks(frame.slice(2) as number[], at);
        return;
      case "n":
      case "x":
        throw new Error(`Refused: ${JSON.stringify(frame)}`);
      case "b":
        throw new Error("The device fell behind");
    }
  }

  /** Acks of own messages: ref, seq and time of each. */
  private handleAcks(acks: readonly number[], at: number): void {
    for (let i = 0; i < acks.length; i += 3) this.onAck(acks[i] as number, acks[i + 1] as number, at);
  }

  private saveRow(row: InboxRow): void {
    this.rows.set(row.conversation, row);
  }

  private handleText(handle: number, seq: number, text: string, at: number): void {
    this.onText(seq, text, at);
    this.highestSeq = Math.max(this.highestSeq, seq);
    if (++this.receivedCount % creditReportMessages === 0) this.write(["k", this.receivedCount]);
    if (!this.options.reportsDelivery || this.receiptTimer) return;
    this.receiptTimer = setTimeout(() => {
      this.receiptTimer = undefined;
      this.write(["r", handle, this.highestSeq, 0]);
    }, receiptCoalesceMs);
  }
}
