import type { IncomingMessage } from "node:http";
import WebSocket from "ws";
import type { InboxRow } from "#contract/conversations.ts";
import { type ConversationId, createUuid } from "#contract/ids.ts";
import { receiptCoalesceMs } from "#contract/limits/delivery.ts";
import { creditReportMessages } from "#contract/limits/sockets.ts";
import { type AppFrame, encodeAppFrame } from "#contract/wire/app-frames.ts";
import {
  type Ack,
  decodeServerFrame,
  joinFrames,
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
        if (device.receive(String(data), at) === "welcome") resolve();
      });
    });
    const [epoch, counter] = options.cursor ?? ["", 0];
    device.write({ type: "hello", version: protocolVersion, epoch, counter });
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
    this.write({ type: "send", ref, conversation, cid: createUuid(), body: { type: "text", text } });
  }

  write(frame: AppFrame): void {
    if (this.unwritten.push(encodeAppFrame(frame)) > 1) return;
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
    this.handleFrame(frame, at);
    return frame.type;
  }

  private handleFrame(frame: ServerFrame, at: number): void {
    switch (frame.type) {
      case "liveText":
        this.handleText(frame.target, frame.seq, frame.text, at);
        return;
      case "welcome":
      case "changes":
        for (const row of frame.rows) this.saveRow(row);
        return;
      case "row":
        this.saveRow(frame.row);
        return;
      case "messages":
        for (const { seq, body } of frame.messages)
          this.handleText(frame.target, seq, body.type === "text" ? body.text : "", at);
        this.handleAcks(frame.acks ?? [], at);
        return;
      case "acknowledgement":
        this.handleAcks(frame.acks, at);
        return;
      case "refusal":
      case "error":
        throw new Error(`Refused: ${JSON.stringify(frame)}`);
      case "head":
        throw new Error("The device fell behind");
    }
  }

  private handleAcks(acks: readonly Ack[], at: number): void {
    for (const { ref, seq } of acks) this.onAck(ref, seq, at);
  }

  private saveRow(row: InboxRow): void {
    this.rows.set(row.conversation, row);
  }

  private handleText(handle: number, seq: number, text: string, at: number): void {
    this.onText(seq, text, at);
    this.highestSeq = Math.max(this.highestSeq, seq);
    if (++this.receivedCount % creditReportMessages === 0)
      this.write({ type: "received", messages: this.receivedCount });
    if (!this.options.reportsDelivery || this.receiptTimer) return;
    this.receiptTimer = setTimeout(() => {
      this.receiptTimer = undefined;
      this.write({ type: "mark", conversation: handle, delivered: this.highestSeq, read: 0 });
    }, receiptCoalesceMs);
  }
}
