import { type ConnectionContext, Server } from "partyserver";
import type { SecurityNotice } from "#contract/auth/security-notice.ts";
import type { Call, CallSignals, DeviceId } from "#contract/calls/call.ts";
import { type ConversationId, otherMember, packUuid, type Uuid } from "#contract/ids.ts";
import type { Relation } from "#contract/people.ts";
import type { PushTestResult } from "#contract/push.ts";
import type { DraftList } from "#contract/settings/drafts.ts";
import type { MessageFlags } from "#contract/settings/message-flags.ts";
import type { Presence, VersionedSettings } from "#contract/settings/settings.ts";
import type { Command, CommandResults, Refusal } from "#contract/wire/commands.ts";
import type { GlobalSearch, GlobalSearchResult } from "#contract/wire/global-search.ts";
import * as serverFrame from "#contract/wire/server-frame-types.ts";
import { toAudienceFor } from "#worker/lib/exceptions.ts";
import { readLimitFactor } from "#worker/lib/limits/local-limits.ts";
import { logError, logWarning } from "#worker/lib/log.ts";
import type { CallSignal } from "./rpc/calls.ts";
import type { ConversationNotice } from "./rpc/notices.ts";
import type { InvitationNotice, NewPushSubscription, UserChannelRpc } from "./rpc/user-channel-rpc.ts";
import { KeyValues } from "./shared/key-values.ts";
import { applyMigrations } from "./shared/migrations.ts";
import { AccountDeletionJob } from "./user-channel/account-deletion.ts";
import { CallCommands } from "./user-channel/calls/call-commands.ts";
import { CallRegistry } from "./user-channel/calls/call-registry.ts";
import { CommandRouter } from "./user-channel/commands/command-router.ts";
import { ConversationReader } from "./user-channel/commands/conversation-commands.ts";
import { ConversationGateway } from "./user-channel/commands/conversation-gateway.ts";
import { DraftCommands } from "./user-channel/commands/draft-commands.ts";
import { FlagCommands } from "./user-channel/commands/flag-commands.ts";
import { MessageDeletions } from "./user-channel/commands/message-deletions.ts";
import { MessageEdits } from "./user-channel/commands/message-edits.ts";
import { MessageFlagCommands } from "./user-channel/commands/message-flag-commands.ts";
import { PinCommands } from "./user-channel/commands/pin-commands.ts";
import { ReactionCommands } from "./user-channel/commands/reaction-commands.ts";
import { ReceiptCommands } from "./user-channel/commands/receipt-commands.ts";
import { SearchCommands } from "./user-channel/commands/search-commands.ts";
import { MessageDispatcher } from "./user-channel/commands/send-messages.ts";
import { costOfCommand, costOfGlobalSearch } from "./user-channel/frames/frame-costs.ts";
import { FrameHandler } from "./user-channel/frames/frame-handler.ts";
import { FrameLimits } from "./user-channel/frames/frame-limits.ts";
import { FrameReader } from "./user-channel/frames/frame-reader.ts";
import { FrameRouter } from "./user-channel/frames/frame-router.ts";
import { listMutedConversations, readConversationList } from "./user-channel/inbox/changes-query.ts";
import { InboxFeed } from "./user-channel/inbox/inbox-feed.ts";
import { userChannelMigrations } from "./user-channel/migrations.ts";
import { PresenceTracker } from "./user-channel/presence/presence.ts";
import { TypingRelay } from "./user-channel/presence/typing.ts";
import { PushNotifications } from "./user-channel/push/push-notifications.ts";
import { SessionCheck } from "./user-channel/sockets/session-check.ts";
import { SocketRegistry } from "./user-channel/sockets/socket-registry.ts";
import type { ClientSocket, SocketState } from "./user-channel/sockets/socket-state.ts";

/** Header with the session id, set by the Worker on the upgrade request. A value sent by the client is overwritten. */
export const sessionHeader = "x-lisolo-session";

const internalErrorCode = 1011; // unexpected error (RFC 6455 §7.4.1); the device reconnects
const goingAwayCode = 1001; // sent by browsers when a page closes or reloads (RFC 6455 §7.4.1)

/** Durable Object of one person: their sockets, and their inbox with its change counter. */
export class UserChannel extends Server<Env> implements UserChannelRpc {
  static override options = { hibernate: true };

  readonly #sockets = new SocketRegistry(
    () => this.getConnections<SocketState>(),
    (socket) => this.ctx.getWebSocketAutoResponseTimestamp(socket)?.getTime() ?? 0,
  );
  readonly #inbox: InboxFeed;
  readonly #callRegistry: CallRegistry;
  readonly #callCommands: CallCommands;
  readonly #typing: TypingRelay;
  readonly #presence: PresenceTracker;
  readonly #accountDeletion: AccountDeletionJob;
  readonly #push: PushNotifications;
  readonly #receipts: ReceiptCommands;
  readonly #frameLimits: FrameLimits;
  readonly #frameReader: FrameReader;
  readonly #sessionCheck: SessionCheck;
  readonly #frameRouter: FrameRouter;
  readonly #commands: CommandRouter;
  readonly #drafts: DraftCommands;
  readonly #search: SearchCommands;

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env);
    applyMigrations(ctx.storage, userChannelMigrations);
    const user = ctx.id.name ?? "";
    const meta = new KeyValues(ctx.storage.sql);
    const inbox = new InboxFeed(ctx, meta, this.#sockets, {
      onCountInDoubt: (conversation) => this.#accountDeletion.isGone || this.#receipts.recount(conversation),
      onNewMessages: (...args) => this.#push.handleNewMessages(...args),
      onDeletions: (...args) => this.#push.deletions.handleDeletions(...args),
      onRead: (...args) => this.#push.reads.handleRead(...args),
      onUnmuted: (entry) => this.#push.messages.handleUnmuted(entry),
      onFlush: () => this.#push.messages.handleFlush(),
    });
    const factor = readLimitFactor(env);
    const isAwaitingHello = (socket: WebSocket) => this.#frameReader.isAwaitingHello(socket);
    const abortSockets = () => void this.#abortSockets();
    this.#frameLimits = new FrameLimits({ factor, meta, isAwaitingHello, abortSockets });
    const gateway = new ConversationGateway(env, user, (id) => inbox.find(id) !== undefined);
    this.#inbox = inbox;
    this.#typing = new TypingRelay({ env, user, inbox, sockets: this.#sockets });
    this.#presence = new PresenceTracker({ env, user, meta, inbox, sockets: this.#sockets });
    const onMessage = (conversation: ConversationId) => this.#typing.reset(conversation);
    const dispatcher = new MessageDispatcher({ env, user, gateway, inbox, meta, factor, onMessage });
    const sockets = this.#sockets;
    const createBackgroundRunner = (failure: string) => (work: Promise<unknown>) =>
      ctx.waitUntil(work.catch((error: unknown) => logError(failure, error)));
    const runInBackground = createBackgroundRunner("background work of a call failed");
    const acceptsCalls = (conversation: ConversationId) =>
      toAudienceFor(inbox.settings, "callsFrom", otherMember(conversation, user) ?? user) !== "nobody";
    const callPorts = { env, user, gateway, sockets, acceptsCalls, runInBackground, push: () => this.#push.calls };
    this.#callRegistry = new CallRegistry(ctx.storage.sql, callPorts);
    this.#callCommands = new CallCommands(ctx.storage.sql, this.#callRegistry, callPorts);
    this.#push = new PushNotifications({ ctx, env, user, meta, inbox, sockets, callRegistry: this.#callRegistry });
    const close = () => {
      inbox.close();
      this.#presence.close();
      this.#sockets.closeSessions("all");
      this.#push.removeSubscriptions("all");
    };
    this.#accountDeletion = new AccountDeletionJob({ ctx, env, user, close });
    const recountInBackground = createBackgroundRunner("unread count failed");
    this.#receipts = new ReceiptCommands({ factor, user, inbox, gateway, meta, runInBackground: recountInBackground });
    this.#drafts = new DraftCommands({ inbox, meta });
    this.#search = new SearchCommands(user, gateway, inbox);
    this.#commands = new CommandRouter({
      inbox,
      dispatcher,
      receipts: this.#receipts,
      flags: new FlagCommands(inbox, factor),
      messageFlags: new MessageFlagCommands({ user, inbox, gateway, factor }),
      drafts: this.#drafts,
      deletions: new MessageDeletions(user, gateway, factor),
      edits: new MessageEdits(user, gateway, factor),
      reactions: new ReactionCommands(user, gateway, factor),
      pins: new PinCommands(user, gateway, factor),
      reader: new ConversationReader(user, gateway, inbox),
      search: this.#search,
      presence: this.#presence,
      calls: this.#callCommands,
      callRegistry: this.#callRegistry,
      accountDeletion: this.#accountDeletion,
    });
    const handler = new FrameHandler({ sockets, inbox, dispatcher, commands: this.#commands });
    const [typing, presence, push, commands] = [this.#typing, this.#presence, this.#push, this.#commands];
    this.#frameRouter = new FrameRouter({ sockets, inbox, typing, presence, push, commands, handler, ctx });
    this.#sessionCheck = new SessionCheck({ env, closeSession: (session) => this.closeSessions([session]) });
    this.#frameReader = new FrameReader({ sockets, limits: this.#frameLimits, handler });
  }

  override async fetch(request: Request): Promise<Response> {
    return this.#frameLimits.pauseMs > 0 ? new Response(null, { status: 429 }) : super.fetch(request);
  }

  /** Refuses a message above the rate limit before it is read. */
  override async webSocketMessage(socket: WebSocket, message: string | ArrayBuffer): Promise<void> {
    if (this.#frameLimits.admitMessage(socket, message)) await super.webSocketMessage(socket, message);
  }

  // ── sockets ──────────────────────────────────────────────────────────────────────────────────────────────

  override onConnect(socket: ClientSocket, { request }: ConnectionContext): void {
    // The library sends the text of an error thrown here to the client, including our file names.
    try {
      const session = request.headers.get(sessionHeader);
      if (session === null) throw new Error("the upgrade request has no session header");
      this.#sockets.addSocket(socket, session);
      this.#frameReader.expectHello(socket);
      if (this.#accountDeletion.isGone) this.#sockets.closeSocket(socket, "signedOut");
    } catch (error) {
      logError("accepting a socket failed", error);
      socket.close(internalErrorCode);
    }
  }

  override async onMessage(socket: ClientSocket, message: string | ArrayBuffer): Promise<void> {
    try {
      const frames = this.#frameReader.readFrames(socket, message);
      if (this.#accountDeletion.isGone) return;
      this.ctx.waitUntil(this.#sessionCheck.check(socket));
      // Each frame runs synchronously up to its first await, so that frames start in order.
      await Promise.all(frames.map((frame) => this.#frameRouter.routeFrame(socket, frame)));
    } catch (error) {
      logError("handling a frame failed", error);
      this.#sockets.sendFrame(socket, [serverFrame.error, "internal"]);
    }
  }

  override onClose(socket: ClientSocket, code: number): void {
    const { device } = socket.state ?? {};
    if (code === goingAwayCode && device) this.#callCommands.handlePageClosed(device.id);
    this.#presence.handleSocketClosed(socket);
    if (this.#sockets.isEmpty) this.#inbox.flush();
  }

  override onError(socket: ClientSocket, error: unknown): void {
    this.#presence.handleSocketClosed(socket);
    logWarning("a socket failed", error);
  }

  /**
   * Aborts this instance. The platform keeps reading a closed socket as long as the client sends; only an abort stops
   * that.
   */
  async #abortSockets(): Promise<void> {
    try {
      this.#inbox.flush();
      await this.ctx.storage.sync();
    } finally {
      this.ctx.abort("flood on a closed socket");
    }
  }

  override onRequest(): Response {
    return new Response(null, { status: 404 });
  }

  // ── RPC ──────────────────────────────────────────────────────────────────────────────────────

  async execute<T extends Command["type"]>(
    command: Extract<Command, { type: T }>,
    session?: Uuid,
  ): Promise<CommandResults[T] | Refusal> {
    const refusal = this.#frameLimits.takeTokens(costOfCommand(command));
    if (session !== undefined) this.#push.reads.recordCommand(command.type, session);
    return refusal ?? ((await this.#commands.run(command, session)) as CommandResults[T] | Refusal);
  }

  async searchConversations(search: GlobalSearch): Promise<GlobalSearchResult | Refusal> {
    if (this.#accountDeletion.isGone) return { error: "account_deleted" };
    return this.#frameLimits.takeTokens(costOfGlobalSearch(search)) ?? this.#search.searchConversations(search);
  }

  async notify(notice: ConversationNotice): ReturnType<UserChannelRpc["notify"]> {
    if (this.#accountDeletion.isGone) {
      await this.#accountDeletion.declineNotice(notice);
      return "written";
    }
    this.#callRegistry.applyCallState(notice.conversation, notice.call, notice.callVersion, notice.hiddenCall);
    const before = this.#inbox.find(notice.conversation);
    const isWritten = await this.#inbox.applyNotice(notice);
    this.#push.reactions.handleNotice(notice, before);
    if (isWritten) return "written";
    return this.#push.messages.isWriteHeld(notice.conversation) ? "pushing" : "held";
  }

  async updateRelations(relations: Relation[], invitations?: InvitationNotice[]): Promise<void> {
    if (this.#accountDeletion.isGone) return;
    this.#push.handleRequests(relations, invitations, () => this.#inbox.updateRelations(relations));
  }

  async updateSettings(settings: VersionedSettings): Promise<void> {
    if (this.#accountDeletion.isGone) return;
    const before = this.#inbox.settings;
    this.#push.handleSettings(() => this.#inbox.updateSettings(settings));
    this.ctx.waitUntil(this.#presence.handleSettingsChanged(before));
  }

  async addSecurityNotice(notice: SecurityNotice): Promise<void> {
    if (this.#accountDeletion.isGone || !this.#inbox.addSecurityNotice(notice)) return;
    this.#push.handleSecurityNotice(notice);
  }

  async getPresence(asker: Uuid, conversation: ConversationId): Promise<Presence> {
    return this.#presence.getPresenceFor(asker, conversation);
  }

  async notifyPresenceVisibility(peer: Uuid): Promise<void> {
    this.#presence.handlePeerVisibilityChanged(peer);
  }

  async notifyPostDeleted(post: Uuid): Promise<void> {
    this.#sockets.broadcast([serverFrame.postDeleted, packUuid(post)]);
  }

  async getVisibleReadUpTo(conversation: ConversationId): Promise<number> {
    if (this.#inbox.settings.receipts) return Number.MAX_SAFE_INTEGER;
    return this.#inbox.find(conversation)?.othersRead ?? 0;
  }

  async listConversations(before: number | undefined): ReturnType<UserChannelRpc["listConversations"]> {
    return this.#inbox.read((sql) => readConversationList(sql, before ?? Number.MAX_SAFE_INTEGER));
  }

  async listMutes(): Promise<ConversationId[]> {
    return this.#inbox.read(listMutedConversations);
  }

  async listMessageFlags(conversation: ConversationId): Promise<MessageFlags | null> {
    return this.#inbox.choices.listMessageFlags(conversation) ?? null;
  }

  async listDrafts(since: number): Promise<DraftList> {
    return this.#drafts.list(since);
  }

  async hasConversation(conversation: ConversationId): Promise<boolean> {
    return this.#inbox.find(conversation) !== undefined;
  }

  async listCalls(): Promise<Call[]> {
    return this.#callRegistry.visibleCalls;
  }

  async findRecentSignals(call: Uuid, after: number): Promise<CallSignals | undefined> {
    return this.#callCommands.findRecentSignals(call, after);
  }

  async isConnected(): Promise<boolean> {
    return this.#sockets.hasReadySocket;
  }

  async mayReconnect(device: DeviceId): Promise<boolean> {
    return this.#callCommands.mayReconnect(device);
  }

  async deliverSignal(from: Uuid, signal: CallSignal): Promise<void> {
    if (!this.#inbox.isBlocked(from)) this.#callCommands.deliverSignal(from, signal);
  }

  async deliverTyping(conversation: ConversationId, from: { user: Uuid; number: number }): Promise<void> {
    this.#typing.deliverTyping(conversation, from);
  }

  async savePushSubscription(session: Uuid, subscription: NewPushSubscription): Promise<Uuid[]> {
    return this.#accountDeletion.isGone ? [] : this.#push.saveSubscription(session, subscription);
  }

  async removePushSubscription(session: Uuid): Promise<void> {
    this.#push.removeSubscriptions([session]);
  }

  async sendTestPush(session: Uuid): Promise<PushTestResult | null> {
    return this.#push.sendTest(session);
  }

  async closeSessions(sessions: Uuid[] | "all"): Promise<void> {
    this.#sockets.closeSessions(sessions);
    this.#push.removeSubscriptions(sessions);
    if (!this.#accountDeletion.isGone) await this.#callCommands.endSessions(sessions);
  }

  async deleteAccount(user: Uuid): Promise<void> {
    this.#accountDeletion.start(user);
  }

  override async onAlarm(): Promise<void> {
    if (this.#accountDeletion.isGone) await this.#accountDeletion.runPass();
    else this.#push.runAlarm();
  }
}
