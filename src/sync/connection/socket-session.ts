import type { ErrorCode } from "#contract/errors.ts";
import { type ConversationId, type Uuid, unpackUuid } from "#contract/ids.ts";
import type { ClientFrame } from "#contract/wire/client-frames.ts";
import { toClientFrame, toSendFrame, toSpreadFrame } from "#contract/wire/command-frames.ts";
import type { Command, CommandResults } from "#contract/wire/commands.ts";
import {
  baseOf,
  decodeServerFrame,
  encodeFrame,
  type LiveText,
  protocolVersion,
  type ServerFrame,
} from "#contract/wire/server-frames.ts";
import type { CallNews } from "#sync/calls/call-feed.ts";
import type { Change } from "#sync/inbound/apply-changes.ts";
import { rowChanges } from "#sync/inbound/row-changes.ts";
import type { Platform } from "#sync/platform/platform.ts";
import { SyncError } from "#sync/platform/sync-error.ts";
import type { OutboxRow } from "#sync/store/database.ts";
import { afterCatchUp, type Cursor, withHole } from "#sync/store/sync-cursor.ts";
import type { Asked } from "./asked-command.ts";
import { Credit } from "./flow-control.ts";
import {
  type AnswerFrame,
  type Base,
  type ChangeFrame,
  counterOf,
  isChangeFrame,
  messagesIn,
  readAnswer,
  readChanges,
  refsIn,
  toChanges,
  type WelcomeFrame,
} from "./frame-reader.ts";
import { FrameWriter } from "./frame-writer.ts";
import { Answers } from "./pending-requests.ts";
import { Socket, type SocketEvents } from "./socket.ts";

const repeatMs = 1_000; // what the server says to a device that is behind comes many times
const unwelcomedMs = 20_000; // where a hello cannot be said or nobody hears it, pings are answered all the same

export type LineEvents = Pick<SocketEvents, "ended" | "refused" | "outdated"> & {
  /** `isAnew`: the server says everything, also where it knows less than this device. */
  welcomed(isAnew: boolean): void;
  /** `taken` is called once the changes are stored. */
  changed(changes: Change[], taken: () => void): void;
  refusedSend(cid: Uuid, code: ErrorCode, retryAfterMs: number | undefined): void;
  typing(handle: number, member: number): void;
  /** Whom one asked about lets themselves be seen now, or no more. */
  presenceTurned(): void;
  /** This person deleted their status, here or on another device. */
  postDeleted(id: Uuid): void;
  called(news: CallNews): void;
};

/** The dialogue over the socket: hello and welcome, questions and answers, and changes that must not be left out. */
export class Line {
  readonly #platform: Platform;
  readonly #events: LineEvents;
  readonly #readCursor: () => Promise<Cursor>;
  readonly #socket: Socket;
  readonly #writer: FrameWriter;
  readonly #answers: Answers;
  #base: Base | undefined;
  #hello: Cursor | undefined;
  #opening = 0;
  #counter = 0;
  readonly #taken = new Credit();
  /** Visibility that was last reported over this socket. */
  #isLooked: boolean | undefined;
  #cancelRepeat: (() => void) | undefined;

  constructor(platform: Platform, events: LineEvents, readCursor: () => Promise<Cursor>) {
    this.#platform = platform;
    this.#events = events;
    this.#readCursor = readCursor;
    this.#answers = new Answers(platform);
    this.#socket = new Socket(platform, {
      // Without the cursor there is nothing to say; the store's trouble is dealt with elsewhere.
      opened: () => void this.#sayHello().catch(() => {}),
      received: (text) => this.#receive(text),
      counted: (counter) => this.#count(counter),
      ended: (failures) => {
        this.#reset();
        events.ended(failures);
      },
      refused: events.refused,
      outdated: events.outdated,
    });
    this.#writer = new FrameWriter(this.#socket);
  }

  /** Welcomed: questions and messages go over it. */
  get isUp(): boolean {
    return this.#base !== undefined;
  }

  wake(): void {
    this.#socket.wake();
  }

  probe(): void {
    this.#socket.probe();
  }

  restart(afterMs?: number): void {
    this.#socket.restart(afterMs);
  }

  stop(): void {
    this.#socket.stop();
    this.#reset();
  }

  ask<T extends Asked["type"]>(
    command: Extract<Asked, { type: T }>,
    of: number | ConversationId,
  ): Promise<CommandResults[T]> {
    const ref = this.#writer.nextRef();
    const answer = this.#answers.wait<CommandResults[T]>(ref);
    if (!this.#send(toClientFrame(command, ref, of))) this.#answers.settle(ref)?.reject(new SyncError("offline"));
    return answer;
  }

  mark(command: Extract<Command, { type: "mark" }>, of: number | ConversationId): boolean {
    return this.#send(toClientFrame(command, 0, of));
  }

  sayTyping(of: number | ConversationId): boolean {
    return this.#send(["t", of]);
  }

  sayLooked(isLooked: boolean): boolean {
    this.#isLooked = isLooked;
    return this.#send(["l", isLooked ? 1 : 0]);
  }

  sendMessage(of: number | ConversationId, message: OutboxRow): boolean {
    return this.isUp && this.#writer.writeMessages([message], (ref) => toSendFrame(ref, of, message));
  }

  /** Messages of one body to several conversations. */
  sendSpread(messages: readonly [OutboxRow, ...OutboxRow[]]): boolean {
    const [{ body, source }] = messages;
    const to = messages.map(({ conversation, cid }) => ({ conversation, cid }));
    const spread = { type: "spread", body, to, ...(source ? { source } : {}) } as const;
    return this.isUp && this.#writer.writeMessages(messages, (ref) => toSpreadFrame(ref, spread));
  }

  #send(frame: ClientFrame): boolean {
    return this.isUp && this.#writer.write(frame);
  }

  async #sayHello(): Promise<void> {
    const opening = ++this.#opening;
    this.#platform.after(unwelcomedMs, () => opening === this.#opening && !this.isUp && this.#socket.restart());
    const cursor = await this.#readCursor();
    if (opening !== this.#opening) return; // that socket is gone
    this.#hello = cursor;
    this.#socket.send(encodeFrame(["h", protocolVersion, cursor.epoch, cursor.counter]));
  }

  #reset(): void {
    this.#opening++;
    this.#base = undefined;
    this.#hello = undefined;
    this.#writer.reset();
    this.#taken.reset();
    this.#isLooked = undefined;
    this.#cancelRepeat?.();
    this.#cancelRepeat = undefined;
    this.#answers.lose();
  }

  #receive(text: string): void {
    const frame = decodeServerFrame(text);
    // What cannot be read and was a change leaves its number out, which the next frame or pong brings to light.
    if (!frame) return;
    if ("event" in frame) this.#events.called(frame.payload);
    else if (!Array.isArray(frame)) this.#change(frame as LiveText, text);
    else if (isChangeFrame(frame)) this.#change(frame, text);
    else this.#hear(frame, text);
  }

  #hear(frame: Exclude<ServerFrame, ChangeFrame>, text: string): void {
    switch (frame[0]) {
      case "w":
        this.#welcome(frame);
        break;
      case "n":
        this.#refuse(frame[1], frame[2], frame[3]);
        break;
      case "t":
        this.#events.typing(frame[1], frame[2]);
        break;
      case "l":
        this.#events.presenceTurned();
        break;
      case "d":
        this.#events.postDeleted(unpackUuid(frame[1]));
        break;
      case "x":
        break;
      default:
        this.#answer(frame as AnswerFrame, text.length);
        break;
    }
  }

  #welcome(frame: WelcomeFrame): void {
    const hello = this.#hello;
    if (!hello || this.#base) return;
    const [, , ...changes] = frame;
    const [epoch, counter, now, , , calls] = changes;
    this.#base = { epoch, ...baseOf({ counter, now }) };
    this.#counter = counter;
    const result = readChanges(changes, this.#base);
    const clock = this.#platform.now();
    // A counter that this inbox does not know as its own was answered with everything.
    const isAnew = hello.epoch !== "" && (epoch !== hello.epoch || result.since < hello.counter);
    const move = (cursor: Cursor) => afterCatchUp(cursor, result.since, result, clock);
    this.#socket.welcomed();
    this.#events.changed([{ type: "cursor", move, isAnew }, ...rowChanges(result, isAnew)], () => {});
    this.#events.called({ event_type: "standing", calls, now });
    this.#events.welcomed(isAnew);
  }

  #refuse(ref: number, code: ErrorCode, retryAfterMs: number | undefined): void {
    const sent = this.#writer.sent.get(ref);
    this.#writer.forget(ref);
    if (code === "rate_limited") this.#repeatAfter(retryAfterMs);
    if (sent) this.#events.refusedSend(sent.cid, code, retryAfterMs);
    this.#answers.settle(ref)?.reject(new SyncError(code, retryAfterMs));
  }

  #answer(frame: AnswerFrame, bytes: number): void {
    const base = this.#base;
    const waiting = this.#answers.settle(frame[1]);
    if (!base) return;
    // Also an answer that came too late to be used was taken in.
    if (frame[0] === "g" || frame[0] === "q")
      this.#credit(base, (frame[0] === "g" ? frame[4] : frame[2]).length, bytes);
    if (!waiting) return;
    if (frame[0] === "c" && frame[2] === base.epoch) this.#counter = Math.max(this.#counter, frame[3]);
    waiting.resolve(readAnswer(frame, base));
  }

  #change(frame: Parameters<typeof toChanges>[0], text: string): void {
    const base = this.#base;
    if (!base) return;
    const changes = toChanges(frame, base, this.#writer.sent);
    for (const ref of refsIn(frame)) this.#writer.forget(ref);
    const isHeadOnly = changes.some((change) => change.type === "head");
    const counter = counterOf(frame, base);
    const last = this.#counter;
    if (counter > last) {
      this.#counter = counter;
      const isGap = counter > last + 1;
      // A device that was behind is told of heads only: the rows are asked for.
      changes.push(
        this.#move((cursor) => (isGap || isHeadOnly ? withHole({ ...cursor, counter }, last) : { ...cursor, counter })),
      );
    }
    const messages = messagesIn(frame);
    // Overtaken, or told twice: what was asked for meanwhile knows better than its rows and counts.
    const useful =
      counter < last ? changes.filter(({ type }) => type !== "row" && type !== "mine" && type !== "person") : changes;
    this.#events.changed(useful, () => this.#credit(base, messages, text.length, isHeadOnly));
  }

  /** The server's counter, from a pong: ahead of the frames received, some were lost. */
  #count(counter: number): void {
    const last = this.#counter;
    if (!this.#base || counter <= last) return;
    this.#events.changed([this.#move((cursor) => withHole(cursor, last))], () => {});
  }

  /** Only for the inbox this line speaks of: another tab may have met a new one. */
  #move(move: (cursor: Cursor) => Cursor): Change {
    const epoch = this.#base?.epoch;
    return { type: "cursor", move: (cursor) => (cursor.epoch === epoch ? move(cursor) : cursor) };
  }

  /** Confirms what was taken in, a good deal at once; `isBehind`: the server waits for it. */
  #credit(base: Base, messages: number, bytes: number, isBehind = false): void {
    if (base !== this.#base) return;
    const taken = this.#taken.take(messages, bytes, isBehind);
    if (taken !== undefined) this.#send(["k", taken]);
    else if (isBehind && !this.#cancelRepeat) this.#repeatAfter();
  }

  /** Says again what nobody answers: the server drops it while it refuses frames, and would wait for the confirmation for ever. */
  #repeatAfter(ms = repeatMs): void {
    this.#cancelRepeat?.();
    this.#cancelRepeat = this.#platform.after(ms, () => {
      this.#cancelRepeat = undefined;
      const taken = this.#taken.repeat();
      if (taken > 0) this.#send(["k", taken]);
      if (this.#isLooked !== undefined) this.sayLooked(this.#isLooked);
    });
  }
}
