import { type ConnectionContext, Server } from "partyserver";
import type { SecurityNotice } from "#contract/auth/security-notice.ts";
import type { Call, CallSignals, DeviceId } from "#contract/calls/call.ts";
import type { ConversationId, Uuid } from "#contract/ids.ts";
import type { Relation } from "#contract/people.ts";
import type { PushTestResult } from "#contract/push.ts";
import type { DraftList } from "#contract/settings/drafts.ts";
import type { MessageFlags } from "#contract/settings/message-flags.ts";
import type { Presence, VersionedSettings } from "#contract/settings/settings.ts";
import type { Command, CommandResults, Refusal } from "#contract/wire/commands.ts";
import type { GlobalSearch, GlobalSearchResult } from "#contract/wire/global-search.ts";
import { logError, logWarning } from "#worker/lib/log.ts";
import type { CallSignal } from "./rpc/calls.ts";
import type { ConversationNotice } from "./rpc/notices.ts";
import type { InvitationNotice, NewPushSubscription, UserChannelRpc } from "./rpc/user-channel-rpc.ts";
import { applyMigrations } from "./shared/migrations.ts";
import { costOfCommand, costOfGlobalSearch } from "./user-channel/frames/frame-costs.ts";
import { listMutedConversations, readConversationList } from "./user-channel/inbox/changes-query.ts";
import { userChannelMigrations } from "./user-channel/migrations.ts";
import { createParts, type UserChannelParts } from "./user-channel/parts.ts";
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
  readonly #parts: UserChannelParts;

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env);
    applyMigrations(ctx.storage, userChannelMigrations);
    this.#parts = createParts({
      ctx,
      env,
      sockets: this.#sockets,
      closeSession: (session) => this.closeSessions([session]),
      abortSockets: () => void this.#abortSockets(),
    });
  }

  override async fetch(request: Request): Promise<Response> {
    return this.#parts.frameLimits.pauseMs > 0 ? new Response(null, { status: 429 }) : super.fetch(request);
  }

  /** Refuses a message above the rate limit before it is read. */
  override async webSocketMessage(socket: WebSocket, message: string | ArrayBuffer): Promise<void> {
    if (this.#parts.frameLimits.admitMessage(socket, message)) await super.webSocketMessage(socket, message);
  }

  // ── sockets ──────────────────────────────────────────────────────────────────────────────────────────────

  override onConnect(socket: ClientSocket, { request }: ConnectionContext): void {
    // The library sends the text of an error thrown here to the client, including our file names.
    try {
      const session = request.headers.get(sessionHeader);
      if (session === null) throw new Error("the upgrade request has no session header");
      this.#sockets.addSocket(socket, session);
      this.#parts.frameReader.expectHello(socket);
      if (this.#isGone) this.#sockets.closeSocket(socket, "signedOut");
    } catch (error) {
      logError("accepting a socket failed", error);
      socket.close(internalErrorCode);
    }
  }

  override async onMessage(socket: ClientSocket, message: string | ArrayBuffer): Promise<void> {
    try {
      const { frameReader, frameRouter, sessionCheck } = this.#parts;
      const frames = frameReader.readFrames(socket, message);
      if (this.#isGone) return;
      this.ctx.waitUntil(sessionCheck.check(socket));
      // Each frame runs synchronously up to its first await, so that frames start in order.
      await Promise.all(frames.map((frame) => frameRouter.routeFrame(socket, frame)));
    } catch (error) {
      logError("handling a frame failed", error);
      this.#sockets.sendFrame(socket, { type: "error", error: "internal" });
    }
  }

  override onClose(socket: ClientSocket, code: number): void {
    const { device } = socket.state ?? {};
    if (code === goingAwayCode && device) this.#parts.callCommands.handlePageClosed(device.id);
    this.#parts.presence.handleSocketClosed(socket);
    if (this.#sockets.isEmpty) this.#parts.inbox.flush();
  }

  override onError(socket: ClientSocket, error: unknown): void {
    this.#parts.presence.handleSocketClosed(socket);
    logWarning("a socket failed", error);
  }

  /**
   * Aborts this instance. The platform keeps reading a closed socket as long as the client sends; only an abort stops
   * that.
   */
  async #abortSockets(): Promise<void> {
    try {
      this.#parts.inbox.flush();
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
    const refusal = this.#parts.frameLimits.takeTokens(costOfCommand(command));
    if (session !== undefined) this.#parts.push.reads.recordCommand(command.type, session);
    return refusal ?? ((await this.#parts.commands.run(command, session)) as CommandResults[T] | Refusal);
  }

  async searchConversations(search: GlobalSearch): Promise<GlobalSearchResult | Refusal> {
    if (this.#isGone) return { error: "account_deleted" };
    const refusal = this.#parts.frameLimits.takeTokens(costOfGlobalSearch(search));
    return refusal ?? this.#parts.search.searchConversations(search);
  }

  async notify(notice: ConversationNotice): ReturnType<UserChannelRpc["notify"]> {
    const { accountDeletion, callRegistry, inbox, push } = this.#parts;
    if (accountDeletion.isGone) {
      await accountDeletion.declineNotice(notice);
      return "written";
    }
    callRegistry.applyCallState(notice.conversation, notice.call, notice.callVersion, notice.hiddenCall);
    const before = inbox.find(notice.conversation);
    const isWritten = await inbox.applyNotice(notice);
    push.reactions.handleNotice(notice, before);
    if (isWritten) return "written";
    return push.messages.isWriteHeld(notice.conversation) ? "pushing" : "held";
  }

  async updateRelations(relations: Relation[], invitations?: InvitationNotice[]): Promise<void> {
    if (this.#isGone) return;
    const { inbox, presence, push } = this.#parts;
    const blocked = relations.filter((relation) => relation.blocked && !inbox.isBlocked(relation.profile.id));
    push.handleRequests(relations, invitations, () => inbox.updateRelations(relations));
    this.ctx.waitUntil(presence.handleBlocked(blocked.map(({ profile }) => profile.id)));
  }

  async updateSettings(settings: VersionedSettings): Promise<void> {
    if (this.#isGone) return;
    const { inbox, presence, push } = this.#parts;
    const before = inbox.settings;
    push.handleSettings(() => inbox.updateSettings(settings));
    this.ctx.waitUntil(presence.handleSettingsChanged(before));
  }

  async addSecurityNotice(notice: SecurityNotice): Promise<void> {
    if (this.#isGone || !this.#parts.inbox.addSecurityNotice(notice)) return;
    this.#parts.push.handleSecurityNotice(notice);
  }

  async getPresence(asker: Uuid, conversation: ConversationId): Promise<Presence> {
    return this.#parts.presence.getPresenceFor(asker, conversation);
  }

  async notifyPresenceVisibility(peer: Uuid): Promise<void> {
    this.#parts.presence.handlePeerVisibilityChanged(peer);
  }

  async notifyPostDeleted(post: Uuid): Promise<void> {
    this.#sockets.broadcast({ type: "postDeleted", id: post });
  }

  async getVisibleReadUpTo(conversation: ConversationId): Promise<number> {
    const { inbox } = this.#parts;
    return inbox.settings.receipts ? Number.MAX_SAFE_INTEGER : (inbox.find(conversation)?.othersRead ?? 0);
  }

  async listConversations(before: number | undefined): ReturnType<UserChannelRpc["listConversations"]> {
    return this.#parts.inbox.read((sql) => readConversationList(sql, before ?? Number.MAX_SAFE_INTEGER));
  }

  async listMutes(): Promise<ConversationId[]> {
    return this.#parts.inbox.read(listMutedConversations);
  }

  async listMessageFlags(conversation: ConversationId): Promise<MessageFlags | null> {
    return this.#parts.inbox.choices.listMessageFlags(conversation) ?? null;
  }

  async listDrafts(since: number): Promise<DraftList> {
    return this.#parts.drafts.list(since);
  }

  async hasConversation(conversation: ConversationId): Promise<boolean> {
    return this.#parts.inbox.find(conversation) !== undefined;
  }

  async listCalls(): Promise<Call[]> {
    return this.#parts.callRegistry.visibleCalls;
  }

  async findRecentSignals(call: Uuid, after: number): Promise<CallSignals | undefined> {
    return this.#parts.callCommands.findRecentSignals(call, after);
  }

  async isConnected(): Promise<boolean> {
    return this.#sockets.hasReadySocket;
  }

  async mayReconnect(device: DeviceId): Promise<boolean> {
    return this.#parts.callCommands.mayReconnect(device);
  }

  async deliverSignal(from: Uuid, signal: CallSignal): Promise<void> {
    const { callCommands, inbox } = this.#parts;
    if (!inbox.isBlocked(from)) callCommands.deliverSignal(from, signal);
  }

  async deliverTyping(conversation: ConversationId, from: { user: Uuid; number: number }): Promise<void> {
    this.#parts.typing.deliverTyping(conversation, from);
  }

  async savePushSubscription(session: Uuid, subscription: NewPushSubscription): Promise<Uuid[]> {
    return this.#isGone ? [] : this.#parts.push.saveSubscription(session, subscription);
  }

  async removePushSubscription(session: Uuid): Promise<void> {
    this.#parts.push.removeSubscriptions([session]);
  }

  async sendTestPush(session: Uuid): Promise<PushTestResult | null> {
    return this.#parts.push.sendTest(session);
  }

  async closeSessions(sessions: Uuid[] | "all"): Promise<void> {
    this.#sockets.closeSessions(sessions);
    this.#parts.push.removeSubscriptions(sessions);
    if (!this.#isGone) await this.#parts.callCommands.endSessions(sessions);
  }

  async deleteAccount(user: Uuid): Promise<void> {
    this.#parts.accountDeletion.start(user);
  }

  override async onAlarm(): Promise<void> {
    if (this.#isGone) await this.#parts.accountDeletion.runPass();
    else this.#parts.push.runAlarm();
  }

  /** Whether the account is being deleted or was deleted. */
  get #isGone(): boolean {
    return this.#parts.accountDeletion.isGone;
  }
}
