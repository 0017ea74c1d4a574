import type { ErrorCode } from "#contract/errors.ts";
import type { ConversationId, Uuid } from "#contract/ids.ts";
import { type AppFrame, encodeAppFrame, toAppFrame } from "#contract/wire/app-frames.ts";
import type { SocketBase } from "#contract/wire/codec.ts";
import type { Command, CommandResults } from "#contract/wire/commands.ts";
import {
  decodeServerFrame,
  protocolVersion,
  type ServerFrame,
  type ServerFrameOf,
  toSocketBase,
} from "#contract/wire/server-frames.ts";
import { type ServerChange, toRowChanges } from "#sync/inbound/server-changes.ts";
import type { Platform } from "#sync/platform/platform.ts";
import { SyncError } from "#sync/platform/sync-error.ts";
import { addGap, applyCatchUp, type SyncCursor } from "#sync/store/sync-cursor.ts";
import type { RequestCommand } from "#sync/store/sync-port.ts";
import type { OutboxRow } from "#sync/unsent/outbox-row.ts";
import type { CallFeedEvent } from "./call-feed.ts";
import {
  type ChangeFrame,
  countMessages,
  listRefs,
  type ResultFrame,
  toCommandResult,
  toServerChanges,
} from "./frame-reader.ts";
import { FrameWriter } from "./frame-writer.ts";
import { PendingRequests } from "./pending-requests.ts";
import { ReconnectingSocket, type SocketEvents } from "./socket.ts";
import { StatusReporter } from "./status-reporter.ts";

/** Base of a socket's frames, and the epoch of the inbox. */
type SessionBase = SocketBase & { epoch: string };

const welcomeTimeoutMs = 20_000; // time limit for the welcome: pongs arrive even if the hello was not received

export type SocketSessionEvents = Pick<SocketEvents, "onClosed" | "onSessionRefused" | "onOutdated"> & {
  /** `isOtherInbox`: the server was restored, or lost the inbox that this device knew. */
  onWelcome(isOtherInbox: boolean): void;
  /** `onStored` is called once the changes are stored. */
  onChanges(changes: ServerChange[], onStored: () => void): void;
  onSendRefused(cid: Uuid, code: ErrorCode, retryAfterMs: number | undefined): void;
  onTyping(handle: number, member: number): void;
  /** A person whose presence was requested has turned its visibility on or off. */
  onPresenceVisibilityChanged(): void;
  /** This person deleted a post, here or on another device. */
  onPostDeleted(id: Uuid): void;
  /** The push subscription of this session has to be renewed. */
  onPushKeyChanged(): void;
  onCallEvent(event: CallFeedEvent): void;
};

/** Protocol session over the socket: hello and welcome, requests and results, and the gapless sequence of changes. */
export class SocketSession {
  readonly #platform: Platform;
  readonly #events: SocketSessionEvents;
  readonly #readCursor: () => Promise<SyncCursor>;
  readonly #socket: ReconnectingSocket;
  readonly #writer: FrameWriter;
  readonly #requests: PendingRequests;
  readonly #reporter: StatusReporter;
  #base: SessionBase | undefined;
  #helloCursor: SyncCursor | undefined;
  #openingId = 0;
  #counter = 0;

  constructor(platform: Platform, events: SocketSessionEvents, readCursor: () => Promise<SyncCursor>) {
    this.#platform = platform;
    this.#events = events;
    this.#readCursor = readCursor;
    this.#requests = new PendingRequests(platform);
    this.#socket = new ReconnectingSocket(platform, {
      // Without the cursor no hello can be sent; store failures are handled elsewhere.
      onOpen: () => void this.#sendHello().catch(() => {}),
      onMessage: (text) => this.#handleText(text),
      onPong: (counter) => this.#handlePong(counter),
      onClosed: (failures) => {
        this.#reset();
        events.onClosed(failures);
      },
      onSessionRefused: events.onSessionRefused,
      onOutdated: events.onOutdated,
    });
    this.#writer = new FrameWriter(this.#socket);
    this.#reporter = new StatusReporter(platform, (frame) => this.#sendFrame(frame));
  }

  /** Whether the server sent its welcome, so that requests and messages can be sent. */
  get isReady(): boolean {
    return this.#base !== undefined;
  }

  /** The device resumed. */
  wake(): void {
    this.#socket.wake();
  }

  probe(): void {
    this.#socket.probe();
  }

  /** Replaces the socket, after `afterMs` if given. */
  restart(afterMs?: number): void {
    this.#socket.restart(afterMs);
  }

  stop(): void {
    this.#socket.stop();
    this.#reset();
  }

  request<T extends RequestCommand["type"]>(
    command: Extract<RequestCommand, { type: T }>,
    target: number | ConversationId,
  ): Promise<CommandResults[T]> {
    const ref = this.#writer.nextRef();
    const answer = this.#requests.waitForResult<CommandResults[T]>(ref);
    if (!this.#sendFrame(toAppFrame(command, ref, target)))
      this.#requests.remove(ref)?.reject(new SyncError("offline"));
    return answer;
  }

  sendReceipt(command: Extract<Command, { type: "mark" }>, target: number | ConversationId): boolean {
    return this.#sendFrame(toAppFrame(command, 0, target));
  }

  sendTyping(target: number | ConversationId): boolean {
    return this.#sendFrame({ type: "typing", conversation: target });
  }

  sendVisibility(isVisible: boolean): boolean {
    return this.#reporter.reportVisibility(isVisible);
  }

  sendMessage(target: number | ConversationId, message: OutboxRow): boolean {
    return (
      this.isReady &&
      this.#writer.writeMessages([message], (ref) => ({ ...message, type: "send", ref, conversation: target }))
    );
  }

  /** Sends messages of one body to several conversations. */
  sendMulticast(messages: readonly [OutboxRow, ...OutboxRow[]]): boolean {
    const [{ body, source }] = messages;
    const to = messages.map(({ conversation, cid }) => ({ conversation, cid }));
    return (
      this.isReady && this.#writer.writeMessages(messages, (ref) => ({ type: "multicast", ref, body, source, to }))
    );
  }

  #sendFrame(frame: AppFrame): boolean {
    return this.isReady && this.#writer.write(frame);
  }

  async #sendHello(): Promise<void> {
    const opening = ++this.#openingId;
    this.#platform.startTimer(
      welcomeTimeoutMs,
      () => opening === this.#openingId && !this.isReady && this.#socket.restart(),
    );
    const cursor = await this.#readCursor();
    if (opening !== this.#openingId) return; // that socket is closed
    this.#helloCursor = cursor;
    this.#socket.send(encodeAppFrame({ type: "hello", version: protocolVersion, ...cursor }));
  }

  #reset(): void {
    this.#openingId++;
    this.#base = undefined;
    this.#helloCursor = undefined;
    this.#writer.reset();
    this.#reporter.reset();
    this.#requests.rejectAll();
  }

  #handleText(text: string): void {
    const frame = decodeServerFrame(text, this.#base);
    // An unreadable change leaves a gap in the counter, which the next frame or pong reveals.
    if (!frame) return;
    if ("event" in frame) this.#events.onCallEvent(frame.payload);
    else this.#handleFrame(frame, text);
  }

  #handleFrame(frame: ServerFrame, text: string): void {
    switch (frame.type) {
      case "welcome":
        this.#handleWelcome(frame);
        break;
      case "refusal":
        this.#handleRefusal(frame.ref, frame.error, frame.retryAfterMs);
        break;
      case "typing":
        this.#events.onTyping(frame.target, frame.member);
        break;
      case "presenceVisibility":
        this.#events.onPresenceVisibilityChanged();
        break;
      case "postDeleted":
        this.#events.onPostDeleted(frame.id);
        break;
      case "pushKeyChanged":
        this.#events.onPushKeyChanged();
        break;
      case "error":
        break;
      default:
        if ("ref" in frame) this.#handleResult(frame, text.length);
        else this.#handleChange(frame, text);
        break;
    }
  }

  #handleWelcome(welcome: ServerFrameOf<"welcome">): void {
    const hello = this.#helloCursor;
    if (!hello || this.#base) return;
    const { epoch, counter, since, now, calls } = welcome;
    this.#base = { epoch, ...toSocketBase(welcome) };
    this.#counter = counter;
    const deviceNow = this.#platform.now();
    const move = (cursor: SyncCursor) => applyCatchUp(cursor, since, welcome, deviceNow);
    this.#socket.confirmWelcome();
    this.#events.onChanges([{ type: "cursor", move }, ...toRowChanges(welcome)], () => {});
    this.#events.onCallEvent({ event_type: "standing", calls, now });
    this.#events.onWelcome(hello.epoch !== "" && epoch !== hello.epoch);
  }

  #handleRefusal(ref: number, code: ErrorCode, retryAfterMs: number | undefined): void {
    const sent = this.#writer.sentRefs.get(ref);
    this.#writer.releaseRef(ref);
    if (code === "rate_limited") this.#reporter.scheduleRepeat(retryAfterMs);
    if (sent) this.#events.onSendRefused(sent.cid, code, retryAfterMs);
    this.#requests.remove(ref)?.reject(new SyncError(code, retryAfterMs));
  }

  #handleResult(frame: ResultFrame, bytes: number): void {
    const base = this.#base;
    const pending = this.#requests.remove(frame.ref);
    if (!base) return;
    // A result that comes too late to be used was processed as well.
    if (frame.type === "page" || frame.type === "search") this.#countProcessed(base, frame.messages.length, bytes);
    if (!pending) return;
    if (frame.type === "changes" && frame.epoch === base.epoch) this.#counter = Math.max(this.#counter, frame.counter);
    pending.resolve(toCommandResult(frame));
  }

  #handleChange(frame: ChangeFrame, text: string): void {
    const base = this.#base;
    if (!base) return;
    const changes = toServerChanges(frame, this.#writer.sentRefs);
    for (const ref of listRefs(frame)) this.#writer.releaseRef(ref);
    const isHeadOnly = changes.some((change) => change.type === "head");
    const { counter } = frame;
    const last = this.#counter;
    if (counter > last) {
      this.#counter = counter;
      const isGap = counter > last + 1;
      // A device that is behind receives heads only and has to request the rows.
      changes.push(
        this.#toCursorChange((cursor) =>
          isGap || isHeadOnly ? addGap({ ...cursor, counter }, last) : { ...cursor, counter },
        ),
      );
    }
    const messages = countMessages(frame);
    // The frame is late or repeated: rows and counts that were fetched since are newer, so its own are dropped.
    const useful =
      counter < last
        ? changes.filter(({ type }) => type !== "row" && type !== "ownRead" && type !== "person")
        : changes;
    this.#events.onChanges(useful, () => this.#countProcessed(base, messages, text.length, isHeadOnly));
  }

  /** Compares the server's counter in a pong: if it is ahead of the received frames, some were lost. */
  #handlePong(counter: number): void {
    const last = this.#counter;
    if (!this.#base || counter <= last) return;
    this.#events.onChanges([this.#toCursorChange((cursor) => addGap(cursor, last))], () => {});
  }

  /** Restricts a cursor update to the epoch of this session: another tab may have met a new inbox. */
  #toCursorChange(move: (cursor: SyncCursor) => SyncCursor): ServerChange {
    const epoch = this.#base?.epoch;
    return { type: "cursor", move: (cursor) => (cursor.epoch === epoch ? move(cursor) : cursor) };
  }

  /** Counts processed messages of the current session. */
  #countProcessed(base: SessionBase, messages: number, bytes: number, isBehind = false): void {
    if (base === this.#base) this.#reporter.countProcessed(messages, bytes, isBehind);
  }
}
