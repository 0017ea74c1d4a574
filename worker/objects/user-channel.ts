import { type ConnectionContext, Server } from "partyserver";
import type { SecurityNotice } from "#contract/auth/security.ts";
import type { Call, CallSignals, Device } from "#contract/calls/call.ts";
import { type ConversationId, packUuid, type Uuid } from "#contract/ids.ts";
import type { Relation } from "#contract/people.ts";
import type { KeptSettings, Presence } from "#contract/settings.ts";
import type { Command, CommandResults, Refusal } from "#contract/wire/commands.ts";
import inboxTables from "#migrations/user-channel/0001_inbox.sql?raw";
import changes from "#migrations/user-channel/0002_changes.sql?raw";
import groups from "#migrations/user-channel/0003_groups.sql?raw";
import calls from "#migrations/user-channel/0004_calls.sql?raw";
import dials from "#migrations/user-channel/0005_dials.sql?raw";
import prior from "#migrations/user-channel/0006_prior.sql?raw";
import { limitFactorOf } from "#worker/lib/limits/local-limits.ts";
import { logError, logWarning } from "#worker/lib/log.ts";
import type { CallSignal, Notice, UserChannelRpc } from "./rpc.ts";
import { Meta } from "./shared/key-values.ts";
import { migrate } from "./shared/migrations.ts";
import { Parting } from "./user-channel/account-deletion.ts";
import { PersonCalls } from "./user-channel/calls/call-commands.ts";
import { KnownCalls } from "./user-channel/calls/call-registry.ts";
import { Commands } from "./user-channel/commands/command-router.ts";
import { Reading } from "./user-channel/commands/conversation-commands.ts";
import { Gate } from "./user-channel/commands/conversation-gateway.ts";
import { Deletions } from "./user-channel/commands/message-deletions.ts";
import { OwnMarks } from "./user-channel/commands/receipt-commands.ts";
import { Sending } from "./user-channel/commands/send-messages.ts";
import { costOfCommand } from "./user-channel/frames/frame-costs.ts";
import { Asking } from "./user-channel/frames/frame-handler.ts";
import { FrameLimits } from "./user-channel/frames/frame-limits.ts";
import { FrameReader } from "./user-channel/frames/frame-reader.ts";
import { FrameRouting } from "./user-channel/frames/frame-routing.ts";
import type { Own } from "./user-channel/inbox/change-push.ts";
import { readList, readMutes } from "./user-channel/inbox/changes-query.ts";
import { Feed } from "./user-channel/inbox/inbox-feed.ts";
import { Presences } from "./user-channel/presence/presence.ts";
import { Typing } from "./user-channel/presence/typing.ts";
import { type Socket, type SocketState, Sockets } from "./user-channel/sockets/socket-registry.ts";

/** Set by the Worker on the request it builds for an upgrade; whatever a client sent by that name is gone. */
export const sessionHeader = "x-lisolo-session";

const brokenCode = 1011; // something unexpected here (RFC 6455 §7.4.1); the device comes again
const pageWentCode = 1001; // what browsers say for a page that is closed or loaded anew (RFC 6455 §7.4.1)

/** One person: their sockets, and their inbox with its change counter. */
export class UserChannel extends Server<Env> implements UserChannelRpc {
  static override options = { hibernate: true };

  readonly #sockets = new Sockets(
    () => this.getConnections<SocketState>(),
    (socket) => this.ctx.getWebSocketAutoResponseTimestamp(socket)?.getTime() ?? 0,
  );
  readonly #feed: Feed;
  readonly #knownCalls: KnownCalls;
  readonly #calls: PersonCalls;
  readonly #typing: Typing;
  readonly #presences: Presences;
  readonly #parting: Parting;
  readonly #marks: OwnMarks;
  readonly #limits: FrameLimits;
  readonly #reader: FrameReader;
  readonly #routing: FrameRouting;
  readonly #commands: Commands;

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env);
    migrate(ctx.storage, [inboxTables, changes, groups, calls, dials, prior]);
    const user = ctx.id.name ?? "";
    const meta = new Meta(ctx.storage.sql);
    const feed = new Feed(ctx, meta, this.#sockets);
    const factor = limitFactorOf(env);
    const awaitsHello = (socket: WebSocket) => this.#reader.awaitsHello(socket);
    this.#limits = new FrameLimits({ factor, meta, awaitsHello, cutOff: () => void this.#cutOff() });
    const gate = new Gate(env, user, (id) => feed.find(id) !== undefined);
    this.#feed = feed;
    this.#typing = new Typing({ env, user, feed, sockets: this.#sockets });
    this.#presences = new Presences({ env, user, meta, feed, sockets: this.#sockets });
    const sending = new Sending({
      env,
      user,
      gate,
      feed,
      meta,
      factor,
      take: async (notice, own) => {
        await this.#take(notice, own);
      },
      heard: (conversation) => this.#typing.forget(conversation),
    });
    const sockets = this.#sockets;
    const laterOr = (failure: string) => (work: Promise<unknown>) =>
      ctx.waitUntil(work.catch((error: unknown) => logError(failure, error)));
    const later = laterOr("a call was not seen to");
    this.#knownCalls = new KnownCalls(ctx.storage.sql, { user, gate, sockets, later });
    this.#calls = new PersonCalls(ctx.storage.sql, this.#knownCalls, { env, user, sockets, later });
    const close = () => {
      feed.close();
      this.#presences.close();
      this.#sockets.closeSessions("all");
    };
    this.#parting = new Parting({ ctx, env, user, close });
    const countLater = laterOr("unread messages were not counted");
    this.#marks = new OwnMarks({ factor, user, feed, gate, meta, later: countLater });
    this.#commands = new Commands({
      feed,
      sending,
      marks: this.#marks,
      deletions: new Deletions(user, gate, factor),
      reading: new Reading(user, gate),
      presences: this.#presences,
      calls: this.#calls,
      knownCalls: this.#knownCalls,
      parting: this.#parting,
    });
    const asking = new Asking({ sockets, feed, sending, commands: this.#commands });
    const [typing, presences] = [this.#typing, this.#presences];
    this.#routing = new FrameRouting({ sockets, feed, typing, presences, commands: this.#commands, asking, ctx });
    this.#reader = new FrameReader({ sockets, limits: this.#limits, asking });
  }

  override async fetch(request: Request): Promise<Response> {
    return this.#limits.pauseMs > 0 ? new Response(null, { status: 429 }) : super.fetch(request);
  }

  /** Over the limit a message is refused before anything else is done for it. */
  override async webSocketMessage(socket: WebSocket, message: string | ArrayBuffer): Promise<void> {
    if (this.#limits.admits(socket, message)) await super.webSocketMessage(socket, message);
  }

  // ── sockets ──────────────────────────────────────────────────────────────────────────────────────────────

  override onConnect(socket: Socket, { request }: ConnectionContext): void {
    // What is thrown here the library tells the other side, with the names of our files.
    try {
      const session = request.headers.get(sessionHeader);
      if (session === null) throw new Error("a socket came without its session");
      this.#sockets.accept(socket, session);
      this.#reader.expectHello(socket);
      if (this.#parting.isGone) this.#sockets.close(socket, "signedOut");
    } catch (error) {
      logError("a socket could not be taken", error);
      socket.close(brokenCode);
    }
  }

  override async onMessage(socket: Socket, message: string | ArrayBuffer): Promise<void> {
    try {
      const frames = this.#reader.read(socket, message);
      if (this.#parting.isGone) return;
      // One after the other up to where each has to wait for somebody.
      await Promise.all(frames.map((frame) => this.#routing.take(socket, frame)));
    } catch (error) {
      logError("a frame could not be handled", error);
      this.#sockets.answer(socket, ["x", "internal"]);
    }
  }

  override onClose(socket: Socket, code: number): void {
    const { device } = socket.state ?? {};
    if (code === pageWentCode && device) this.#calls.leave(device.id);
    this.#presences.left(socket);
    if (this.#sockets.isEmpty) this.#feed.flush();
  }

  override onError(socket: Socket, error: unknown): void {
    this.#presences.left(socket);
    logWarning("a socket broke", error);
  }

  /** The platform reads a socket on after it was closed, for as long as the other side sends: only this ends it. */
  async #cutOff(): Promise<void> {
    try {
      this.#feed.flush();
      await this.ctx.storage.sync();
    } finally {
      this.ctx.abort("a closed socket went on");
    }
  }

  override onRequest(): Response {
    return new Response(null, { status: 404 });
  }

  // ── what others ask ──────────────────────────────────────────────────────────────────────────────────────

  async execute<T extends Command["type"]>(
    _user: Uuid,
    command: Extract<Command, { type: T }>,
    session?: Uuid,
  ): Promise<CommandResults[T] | Refusal> {
    const refusal = this.#limits.take(costOfCommand(command));
    return refusal ?? ((await this.#commands.run(command, session)) as CommandResults[T] | Refusal);
  }

  async notify(_user: Uuid, notice: Notice): ReturnType<UserChannelRpc["notify"]> {
    if (this.#parting.isGone) {
      await this.#parting.decline(notice);
      return "written";
    }
    this.#knownCalls.take(notice.conversation, notice.call, notice.calls, notice.held);
    return (await this.#take(notice)) ? "written" : "held";
  }

  async relate(_user: Uuid, relations: Relation[]): Promise<void> {
    if (!this.#parting.isGone) this.#feed.relate(relations);
  }

  async configure(_user: Uuid, kept: KeptSettings): Promise<void> {
    if (this.#parting.isGone) return;
    const wasSeen = this.#feed.settings.presence;
    this.#feed.configure(kept);
    this.#presences.configured();
    if (this.#feed.settings.presence !== wasSeen)
      this.ctx.waitUntil(
        this.#presences.tellTurned().catch((error: unknown) => logWarning("who looks on was not told", error)),
      );
  }

  async warn(_user: Uuid, notice: SecurityNotice): Promise<void> {
    if (!this.#parting.isGone) this.#feed.warn(notice);
  }

  async presence(_user: Uuid, asker: Uuid, conversation: ConversationId): Promise<Presence> {
    return this.#presences.tell(asker, conversation);
  }

  async presenceTurned(_user: Uuid, by: Uuid): Promise<void> {
    this.#presences.turned(by);
  }

  async postDeleted(_user: Uuid, post: Uuid): Promise<void> {
    this.#sockets.signal(["d", packUuid(post)]);
  }

  async seesReadUpTo(_user: Uuid, conversation: ConversationId): Promise<number> {
    if (this.#feed.settings.receipts) return Number.MAX_SAFE_INTEGER;
    return this.#feed.find(conversation)?.othersRead ?? 0;
  }

  async list(_user: Uuid, before: number | undefined): ReturnType<UserChannelRpc["list"]> {
    return this.#feed.read((sql) => readList(sql, before ?? Number.MAX_SAFE_INTEGER));
  }

  async mutes(): Promise<ConversationId[]> {
    return this.#feed.read(readMutes);
  }

  async knows(_user: Uuid, conversation: ConversationId): Promise<boolean> {
    return this.#feed.find(conversation) !== undefined;
  }

  async calls(): Promise<Call[]> {
    return this.#knownCalls.current;
  }

  async findSaid(_user: Uuid, call: Uuid, after: number): Promise<CallSignals | undefined> {
    return this.#calls.findSaid(call, after);
  }

  async mayCome(_user: Uuid, device: Device): Promise<boolean> {
    return this.#calls.mayCome(device);
  }

  async signal(_user: Uuid, from: Uuid, signal: CallSignal): Promise<void> {
    if (!this.#feed.isBlocked(from)) this.#calls.pass(from, signal);
  }

  async typing(_user: Uuid, conversation: ConversationId, from: { user: Uuid; number: number }): Promise<void> {
    this.#typing.pass(conversation, from);
  }

  async closeSessions(_user: Uuid, sessions: Uuid[] | "all"): Promise<void> {
    this.#sockets.closeSessions(sessions);
    if (!this.#parting.isGone) await this.#calls.signOut(sessions);
  }

  async part(user: Uuid): Promise<void> {
    this.#parting.begin(user);
  }

  override onAlarm(): Promise<void> {
    return this.#parting.run();
  }

  // ── rows ─────────────────────────────────────────────────────────────────────────────────────────────────

  /** Takes in what a conversation says. Whether what the row says of messages stands written. */
  async #take(notice: Notice, own?: readonly Own[]): Promise<boolean> {
    const { isInexact, isWritten } = await this.#feed.take(notice, own);
    // A number of the row is in doubt after a crash between two writes.
    if (isInexact && !this.#parting.isGone) this.#marks.recount(notice.conversation);
    return isWritten;
  }
}
