import { evictDurableObject, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import type { InboxRow } from "#contract/conversations.ts";
import { type ConversationId, createUuid, packUuid, privateConversationId, type Uuid } from "#contract/ids.ts";
import { creditReportMessages } from "#contract/limits/sockets.ts";
import type { WireClientFrame } from "#contract/wire/client-frames.ts";
import { type Ack, decodeServerFrame, protocolVersion, type ServerFrame } from "#contract/wire/server-frames.ts";
import type { Person } from "#tests/support/people/people.ts";
import { writeWireFrame } from "#tests/support/wire-frames.ts";
import { site } from "#tests/worker/support/site.ts";
import { getUserChannelStub } from "#worker/objects/stubs.ts";
import { plainChannel, plainConversation } from "./counters.ts";
import { seedLogSql } from "./log-seed.ts";

export const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

const evictionsMax = 8;
const evictionPauseMs = 3_000;

/** Evicts an object, whose sockets hibernate. One that waits, for example to confirm a delivery, is tried again. */
const evict = async (object: DurableObjectStub): Promise<void> => {
  for (let attempt = 1; ; attempt++) {
    try {
      return await evictDurableObject(object, { webSockets: "hibernate" });
    } catch (error) {
      if (String(error).includes("not currently running")) return;
      if (attempt === evictionsMax) throw error;
      await pause(evictionPauseMs);
    }
  }
};

/** Evicts the objects of a private chat. */
export const evictPair = async (a: Person, b: Person): Promise<void> => {
  for (const object of [plainConversation(toConversationId(a, b)), plainChannel(a.id), plainChannel(b.id)])
    await evict(object);
};

/** Device of a person on a socket inside workerd; it answers every message with the configured receipts. */
export class SceneDevice {
  readonly rows = new Map<ConversationId, InboxRow>();
  epoch = "";
  counter = 0;
  /** Newest seq received. */
  lastSeq = 0;
  /** Receipt sent for each message. */
  receipts: "none" | "delivered" | "read" = "none";
  private readonly waiting: ((frame: ServerFrame) => void)[] = [];
  private readonly unacknowledged = new Map<number, () => void>();
  private ref = 0;
  private receivedCount = 0;
  private confirmedCount = 0;

  private constructor(private readonly socket: WebSocket) {
    socket.accept();
    socket.addEventListener("message", ({ data }) => this.receive(String(data)));
  }

  static async connect(person: Person, cursor: [string, number] = ["", 0]): Promise<SceneDevice> {
    const response = await site.fetch(`${site.origin}/api/socket`, {
      headers: { upgrade: "websocket", origin: site.origin, authorization: `Bearer ${person.token}` },
    });
    if (!response.webSocket) throw new Error(`No socket: ${response.status} ${await response.text()}`);
    const device = new SceneDevice(response.webSocket);
    await device.ask(["h", protocolVersion, ...cursor]);
    return device;
  }

  /** Sends a request and waits for the next response frame. */
  ask(frame: WireClientFrame): Promise<ServerFrame> {
    return new Promise((resolve) => {
      this.waiting.push(resolve);
      this.write(frame);
    });
  }

  /** Resolves when the message is acknowledged. */
  send(conversation: ConversationId, text: string): Promise<void> {
    const handle = this.rows.get(conversation)?.handle ?? conversation;
    const ref = ++this.ref;
    return new Promise((resolve) => {
      this.unacknowledged.set(ref, resolve);
      this.write(["s", ref, handle, packUuid(createUuid()), text]);
    });
  }

  write(frame: WireClientFrame): void {
    this.socket.send(writeWireFrame(frame));
  }

  close(): void {
    this.socket.close(1000);
  }

  private receive(data: string): void {
    const frame = decodeServerFrame(data);
    if (!frame) throw new Error(`Not a frame of the protocol: ${data}`);
    if ("event" in frame) return;
    switch (frame.type) {
      case "liveText":
      case "liveEdit":
        this.handleMessages(frame.target, frame.seq);
        return;
      case "reactions":
        return;
      case "welcome":
      case "changes":
        this.epoch = frame.epoch;
        this.counter = frame.counter;
        for (const row of frame.rows) this.saveRow(row);
        break;
      case "row":
        this.saveRow(frame.row);
        return;
      case "messages":
        this.handleMessages(frame.target, frame.messages.at(-1)?.seq ?? 0, frame.messages.length);
        this.handleAcks(frame.acks ?? []);
        return;
      case "acknowledgement":
        this.handleAcks(frame.acks);
        return;
      case "refusal":
      case "error":
        throw new Error(`Refused: ${data}`);
    }
    if (frame.type === "page" || frame.type === "search") this.confirmReceived(frame.messages.length);
    if (["welcome", "changes", "page", "search", "done"].includes(frame.type)) this.waiting.shift()?.(frame);
  }

  private handleAcks(acks: readonly Ack[]): void {
    for (const { ref } of acks) this.unacknowledged.get(ref)?.();
  }

  private saveRow(row: InboxRow): void {
    this.rows.set(row.conversation, row);
  }

  /** Confirms received messages from time to time; otherwise flow control stops the server. */
  private confirmReceived(messages: number): void {
    this.receivedCount += messages;
    if (this.receivedCount - this.confirmedCount < creditReportMessages) return;
    this.confirmedCount = this.receivedCount;
    this.write(["k", this.receivedCount]);
  }

  private handleMessages(handle: number, seq: number, messages = 1): void {
    this.confirmReceived(messages);
    this.lastSeq = seq;
    if (this.receipts !== "none") this.write(["r", handle, seq, this.receipts === "read" ? seq : 0]);
  }
}

export const toConversationId = (a: Person, b: Person): ConversationId => privateConversationId(a.id, b.id);

/** Inserts `count` messages directly into the log. */
export async function seedLog(conversation: ConversationId, count: number): Promise<void> {
  await runInDurableObject(plainConversation(conversation), (_instance, { storage }) => {
    storage.sql.exec(seedLogSql(count));
  });
}

/**
 * Gives a person `count` conversations with people who need not exist, through the notices their Conversations would
 * send.
 */
export async function seedInbox(user: Uuid, count: number): Promise<void> {
  const channel = getUserChannelStub(env, user);
  for (let i = 0; i < count; i++) {
    const text = `Message du ${i}e ami`;
    await channel.notify({
      conversation: privateConversationId(user, createUuid()),
      epoch: "seeded",
      head: 1,
      at: Date.now(),
      sender: 1,
      preview: { type: "text", text },
      whole: true,
      open: true,
      gone: false,
      membershipVersion: 1,
      group: null,
      hidden: 0,
      revision: 0,
      call: null,
      callVersion: 0,
      ownReadState: { delivered: 0, read: 0 },
      peerReadState: { delivered: 1, read: 1 },
      messages: [{ seq: 1, sender: 1, at: Date.now(), body: { type: "text", text } }],
    });
  }
}
