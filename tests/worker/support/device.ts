import { exports } from "cloudflare:workers";
import * as v from "valibot";
import type { InboxRow } from "#contract/conversations.ts";
import { ApiError } from "#contract/errors.ts";
import { type ConversationId, createUuid, type Uuid } from "#contract/ids.ts";
import { gapPageRows } from "#contract/limits/conversations.ts";
import type { Message } from "#contract/messages/message.ts";
import { encodeAppFrame } from "#contract/wire/app-frames.ts";
import type { WireClientFrame } from "#contract/wire/client-frames.ts";
import type { Command, CommandOf, CommandResults } from "#contract/wire/commands.ts";
import { toHttpRequest } from "#contract/wire/http-commands.ts";
import { protocolVersion, type ServerFrameOf, toSocketBase } from "#contract/wire/server-frames.ts";
import type { Person } from "#tests/support/people/people.ts";
import {
  decodeMessage,
  decodePerson,
  decodeRow,
  type WireFrame as Frame,
  readWireFrame,
  type WireMessage,
  writeWireFrame,
} from "#tests/support/wire-frames.ts";
import { call, site } from "./site.ts";
import { ActiveTimeout } from "./timeouts.ts";

const timeoutMs = 8_000;

type FrameLetter = Extract<Frame, readonly [string, ...unknown[]]>[0];
export type FrameOf<T extends FrameLetter> = Extract<Frame, readonly [T, ...unknown[]]>;
type LiveText = ServerFrameOf<"liveText">;
type LiveEdit = ServerFrameOf<"liveEdit">;
type Answer = FrameOf<"g" | "q" | "c" | "v" | "y" | "j" | "L" | "n">;
const isLive = (frame: Frame): frame is LiveText => "type" in frame && frame.type === "liveText";
const isLiveEdit = (frame: Frame): frame is LiveEdit => "type" in frame && frame.type === "liveEdit";
const isA =
  <T extends FrameLetter>(type: T) =>
  (frame: Frame): frame is FrameOf<T> =>
    Array.isArray(frame) && frame[0] === type;

/** Ref, seq and time of each acknowledged message of the device. */
const findAcknowledged = (frame: Frame): readonly number[] => {
  if (isA("a")(frame)) return frame.slice(2) as number[];
  return isA("m")(frame) ? (frame[4] ?? []) : [];
};

/** Device of a person: a real socket, and everything received over it. */
export class Device {
  readonly person: Person;
  readonly #socket: WebSocket;
  /** Received frames in order, decoded and raw. */
  readonly frames: Frame[] = [];
  readonly raw: string[] = [];
  readonly closed: Promise<{ code: number; reason: string }>;
  #readCount = 0;
  #ref = 0;
  #wake = (): void => {};
  /** Base of relative times. */
  now = 0;
  /** Change counter at the welcome. */
  base = 0;
  #socketBase = { counter: 0, now: 0 };
  epoch = "";

  private constructor(person: Person, socket: WebSocket) {
    this.person = person;
    this.#socket = socket;
    socket.addEventListener("message", ({ data }) => {
      const text = String(data);
      this.raw.push(text);
      const frame = readWireFrame(text);
      if (!frame && !text.startsWith(".")) throw new Error(`not of the protocol: ${text.slice(0, 100)}`);
      if (frame) this.frames.push(frame);
      this.#wake();
    });
    this.closed = new Promise((resolve) =>
      socket.addEventListener("close", ({ code, reason }) => resolve({ code, reason })),
    );
    socket.accept();
  }

  static async connect(person: Person, headers: Record<string, string> = {}, query = ""): Promise<Response> {
    return exports.default.fetch(`${site.origin}/api/socket${query}`, {
      headers: { upgrade: "websocket", authorization: `Bearer ${person.token}`, ...headers },
    });
  }

  /** Opens a socket without sending hello. */
  static async attach(person: Person, headers?: Record<string, string>, query?: string): Promise<Device> {
    const answer = await Device.connect(person, headers, query);
    if (!answer.webSocket) throw new Error(`no socket: ${answer.status} ${await answer.text()}`);
    return new Device(person, answer.webSocket);
  }

  static async open(person: Person, epoch = "", counter = 0): Promise<Device> {
    const device = await Device.attach(person);
    await device.hello(epoch, counter);
    return device;
  }

  async hello(epoch = "", counter = 0): Promise<FrameOf<"w">> {
    this.send(["h", protocolVersion, epoch, counter]);
    const welcome = await this.next(isA("w"));
    this.epoch = welcome[2];
    this.base = welcome[3];
    this.#socketBase = toSocketBase({ counter: welcome[3], now: welcome[4] });
    this.now = this.#socketBase.now;
    return welcome;
  }

  send(frame: WireClientFrame): void {
    this.#socket.send(writeWireFrame(frame));
  }

  sendRaw(data: string | ArrayBuffer): void {
    this.#socket.send(data);
  }

  /** Sends a text and returns its ref. */
  sendText(conversation: number | ConversationId, text: string, cid: Uuid = createUuid()): number {
    return this.sendMessage(conversation, { cid, body: { type: "text", text } });
  }

  /** Sends a message and returns its ref. */
  sendMessage(conversation: number | ConversationId, message: CommandOf<"send">["messages"][number]): number {
    const ref = ++this.#ref;
    this.#socket.send(encodeAppFrame({ type: "send", ref, conversation, ...message }));
    return ref;
  }

  /** Multicasts one body and returns the refs. */
  multicast(command: CommandOf<"multicast">): number[] {
    const refs = command.to.map(() => ++this.#ref);
    this.#socket.send(encodeAppFrame({ ...command, ref: refs[0] ?? 0 }));
    return refs;
  }

  /** Next unread frame that matches; earlier ones are skipped. */
  async next<T extends Frame>(fits: (frame: Frame) => frame is T, withinMs = timeoutMs): Promise<T> {
    const patience = new ActiveTimeout(withinMs);
    for (;;) {
      while (this.#readCount < this.frames.length) {
        const frame = this.frames[this.#readCount++] as Frame;
        if (fits(frame)) return frame;
      }
      if (patience.isExpired) throw new Error(`nothing fitting came; last: ${JSON.stringify(this.raw.slice(-5))}`);
      await patience.waitOrPoll(this.#nextFrame());
    }
  }

  nextOf<T extends FrameLetter>(type: T, withinMs?: number): Promise<FrameOf<T>> {
    return this.next(isA(type), withinMs);
  }

  nextLive(withinMs?: number): Promise<LiveText> {
    return this.next(isLive, withinMs);
  }

  nextEdit(withinMs?: number): Promise<LiveEdit> {
    return this.next(isLiveEdit, withinMs);
  }

  #nextFrame(): Promise<void> {
    return new Promise((resolve) => {
      this.#wake = resolve;
    });
  }

  /** Acknowledgement or refusal of a ref. */
  async waitForOutcome(ref: number): Promise<{ seq: number; at: number } | { error: string; retryAfterMs?: number }> {
    const patience = new ActiveTimeout(timeoutMs);
    for (;;) {
      for (const frame of this.frames) {
        if (isA("n")(frame) && frame[1] === ref) {
          return frame[3] === undefined ? { error: frame[2] } : { error: frame[2], retryAfterMs: frame[3] };
        }
        const numbers = findAcknowledged(frame);
        for (let i = 0; i < numbers.length; i += 3) {
          if (numbers[i] === ref) return { seq: numbers[i + 1] as number, at: (numbers[i + 2] as number) + this.now };
        }
      }
      if (patience.isExpired)
        throw new Error(`ref ${ref} was not answered; last: ${JSON.stringify(this.raw.slice(-5))}`);
      await patience.waitOrPoll(this.#nextFrame());
    }
  }

  /** Sends a request that is answered by its ref. */
  async request(frame: (ref: number) => WireClientFrame): Promise<Answer> {
    const ref = ++this.#ref;
    this.send(frame(ref));
    const answers = ["g", "q", "c", "v", "y", "j", "L", "n"];
    return this.next(
      (got): got is Answer => Array.isArray(got) && answers.includes(got[0] as string) && got[1] === ref,
    );
  }

  /** Absolute counters of all received changes. */
  get counters(): number[] {
    return this.frames.flatMap((frame) => {
      if (isLive(frame) || isLiveEdit(frame)) return [frame.counter + this.#socketBase.counter];
      if (!Array.isArray(frame)) return [];
      return "amioupbesz".includes(frame[0]) ? [(frame[1] as number) + this.#socketBase.counter] : [];
    });
  }

  /** Seqs of all pushed or acknowledged messages, in order of arrival. */
  get seqs(): number[] {
    return this.frames.flatMap((frame) => {
      if (isLive(frame)) return [frame.seq];
      const sent = findAcknowledged(frame).filter((_, i) => i % 3 === 1);
      return isA("m")(frame) ? [...frame[3].map(([seq]) => seq), ...sent].sort((a, b) => a - b) : sent;
    });
  }

  decodeRows(frame: FrameOf<"w" | "c">) {
    return frame[5].map((row) => decodeRow(row, this.now));
  }

  decodePeople(frame: FrameOf<"w" | "c">) {
    return frame[6].map(decodePerson);
  }

  readCalls(frame: FrameOf<"w" | "c">) {
    return frame[7];
  }

  decodeMessages(frame: FrameOf<"g" | "m" | "q" | "v" | "e">) {
    const wires = frame.filter((part) => Array.isArray(part)) as WireMessage[][];
    const [wire = []] = wires;
    return wire.map((message) => decodeMessage(message, this.now));
  }

  ping(): void {
    this.#socket.send(".");
  }

  async waitForPong(): Promise<string> {
    const before = this.raw.length;
    this.ping();
    const patience = new ActiveTimeout(timeoutMs);
    for (;;) {
      const pong = this.raw.slice(before).find((text) => text.startsWith("."));
      if (pong) return pong;
      if (patience.isExpired) throw new Error("no pong");
      await scheduler.wait(5);
    }
  }

  close(code = 1000): void {
    this.#socket.close(code, "done");
  }
}

/** Runs a command by HTTP. Returns its result, or the code of its refusal. */
export const request = async <C extends Command>(
  person: Person,
  command: C,
): Promise<CommandResults[C["type"]] & { error?: string }> => {
  const { method, path, body } = toHttpRequest(command);
  const answer = await call(method, path, { token: person.token, ...(body === undefined ? {} : { body }) });
  if (answer.status === 200) return answer.body as CommandResults[C["type"]];
  return { error: v.parse(ApiError, answer.body).error_code } as CommandResults[C["type"]] & { error: string };
};

export const makeText = (of: string, cid = createUuid()) => ({ cid, body: { type: "text", text: of } as const });

export const sendTexts = (from: Person, conversation: ConversationId, ...texts: string[]) =>
  request(from, { type: "send", conversation, messages: texts.map((one) => makeText(one)) });

/** Whole log as a member reads it by HTTP, page after page. */
export const readLog = async (member: Person, conversation: ConversationId): Promise<Message[]> => {
  const messages: Message[] = [];
  for (let more = true; more; ) {
    const seq = messages.at(-1)?.seq ?? 0;
    const page = await request(member, { type: "page", conversation, direction: "after", seq, limit: gapPageRows });
    messages.push(...page.messages);
    more = page.more;
  }
  return messages;
};

export const toTexts = (messages: readonly Message[]): string[] =>
  messages.map(({ body }) => (body.type === "text" ? body.text : `<${body.type}>`));

/** Inbox row of a person for a conversation, by HTTP. */
export const readRow = async (person: Person, conversation: ConversationId): Promise<InboxRow> => {
  const { rows } = await request(person, { type: "changes", since: 0 });
  const row = rows.find((one) => one.conversation === conversation);
  if (!row) throw new Error("no such row");
  return row;
};

/** Waits until a condition holds that becomes true after an answer. */
export const waitUntil = async (holds: () => boolean | Promise<boolean>, withinMs = timeoutMs): Promise<void> => {
  const patience = new ActiveTimeout(withinMs);
  for (;;) {
    const { isExpired: isOver } = patience;
    try {
      if (await holds()) return;
    } catch (error) {
      // The subject may not exist yet, such as the row of a person who is notified next.
      if (isOver) throw error;
    }
    if (isOver) throw new Error("it did not come to hold");
    await scheduler.wait(10);
  }
};
