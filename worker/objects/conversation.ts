import { DurableObject } from "cloudflare:workers";
import type { CallCommand } from "#contract/calls/open-call.ts";
import type { ReadState } from "#contract/conversations.ts";
import type { Group, Receipts } from "#contract/groups.ts";
import { type ConversationId, privateMembers, type Uuid } from "#contract/ids.ts";
import { searchRowsMax } from "#contract/limits.ts";
import {
  type CommandOf,
  isRefusal,
  type PageResult,
  type Refusal,
  type RevisedResult,
} from "#contract/wire/commands.ts";
import type { MessageInfo } from "#contract/wire/message-info.ts";
import { readLimitFactor } from "#worker/lib/limits/local-limits.ts";
import { logWarning } from "#worker/lib/log.ts";
import { AccessController } from "./conversation/access-controller.ts";
import { CallController } from "./conversation/call-controller.ts";
import { MemberNotifier } from "./conversation/delivery/notifier.ts";
import { GroupController, groupNotFound, invitationNotFound } from "./conversation/groups/group.ts";
import { createGroupLog } from "./conversation/groups/group-commands.ts";
import { isGroupLog } from "./conversation/groups/group-view.ts";
import { ConversationLog } from "./conversation/log/conversation-log.ts";
import type { Member } from "./conversation/log/member-table.ts";
import { listPinnedFor } from "./conversation/log/pinned-messages.ts";
import { findForwardOriginal, isFileReadable } from "./conversation/messages/attachment-access.ts";
import { replaceByTombstone, toDeletionResult } from "./conversation/messages/deletions.ts";
import type { MessageEdit } from "./conversation/messages/edits.ts";
import { anonymizeForwardsOf } from "./conversation/messages/forward-authors.ts";
import { readMessagePage } from "./conversation/messages/history.ts";
import { MessageAppender } from "./conversation/messages/message-appender.ts";
import { applyPin } from "./conversation/messages/pins.ts";
import { readReactionNews } from "./conversation/messages/reaction-news.ts";
import { applyReaction, listReactors } from "./conversation/messages/reactions.ts";
import {
  applyReceipts,
  clearHistoryUpTo,
  getMessageInfo,
  listReceiptsOf,
  toMemberReadState,
} from "./conversation/messages/read-state.ts";
import { mayAnswerInPrivate } from "./conversation/messages/reply-checks.ts";
import { readRevisionsPage } from "./conversation/messages/revisions.ts";
import { requestRingState } from "./conversation/ring-recovery.ts";
import { SearchIndexer } from "./conversation/search/search-indexer.ts";
import { searchLog, searchLogOfSender } from "./conversation/search/search-log.ts";
import type { CallHeartbeat, CallSnapshot } from "./rpc/calls.ts";
import type { ConversationRpc } from "./rpc/conversation-rpc.ts";
import type {
  AddedMember,
  GroupChangeResult,
  GroupCommand,
  InvitingGroup,
  MemberEntries,
  NewMemberCheck,
  UserRemoval,
} from "./rpc/groups.ts";
import type { CheckedMessage, MemberReadState, SearchBudget, SearchSlice } from "./rpc/messages.ts";
import type { InboxPosition } from "./rpc/notices.ts";
import { getUserChannelStub } from "./stubs.ts";

const conversationNotFound: Refusal = { error: "conversation_not_found" };

/**
 * Durable Object of one conversation. It is the sequencer and only writer of the messages, and it decides who may do
 * what. Each change is committed synchronously together with the alarm that notifies the members if this instance dies
 * before it has done so.
 */
export class Conversation extends DurableObject<Env> implements ConversationRpc {
  #log: ConversationLog | undefined;
  readonly #notifier: MemberNotifier;
  readonly #searchIndexer = new SearchIndexer();
  #appender: MessageAppender | undefined;
  #callController: CallController | undefined;
  #access: AccessController | undefined;
  #group: GroupController | undefined;

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env);
    const log = ConversationLog.find(ctx.storage);
    const callTimeouts = {
      applyDue: () => this.#callController?.applyTimeouts(),
      findNext: () => this.#callController?.nextTimeoutAt,
    };
    this.#notifier = new MemberNotifier(ctx, env, log, { callTimeouts, backgroundWork: this.#searchIndexer });
    if (log) {
      this.#attachLog(log);
      if (this.#callController) ctx.waitUntil(requestRingState(env, log, this.#callController));
    }
    void ctx.blockConcurrencyWhile(async () => this.#notifier.recover(await ctx.storage.getAlarm()));
  }

  async openConnection(connection: Uuid): Promise<void> {
    this.#ensureAccess().openConnection(connection);
  }

  async closeConnection(connection: Uuid): Promise<void> {
    this.#ensureAccess().closeConnection(connection);
  }

  async sendMessages(
    user: Uuid,
    messages: readonly CheckedMessage[],
    position: InboxPosition,
  ): ReturnType<ConversationRpc["sendMessages"]> {
    // Former members included: they still get the outcome of messages they sent before they left.
    const member = this.#log?.members.find(user);
    return member && this.#appender ? this.#appender.send(member, messages, position) : conversationNotFound;
  }

  async updateReceipts(
    user: Uuid,
    readState: ReadState,
    isVisibleToPeers: boolean,
  ): Promise<MemberReadState | Refusal> {
    const log = this.#log;
    const member = log?.members.findActive(user);
    if (!log || !member) return conversationNotFound;
    const { lowestReadState } = log.members;
    const { hasMoved, hasRead, isSeenChanged } = log.transaction(() =>
      applyReceipts(log, member, readState, isVisibleToPeers),
    );
    if (isSeenChanged && log.group) this.#notifier.scheduleReceipts(lowestReadState);
    else if (isSeenChanged && log.isOpen && !member.isBlocking)
      this.#notifier.notify(log.members.active.filter((other) => other !== member));
    return toMemberReadState(log, member, hasRead || !hasMoved);
  }

  async clearHistory(user: Uuid, upTo: number): Promise<MemberReadState | Refusal> {
    const log = this.#log;
    const member = log?.members.findReader(user);
    if (!log || !member) return conversationNotFound;
    log.transaction(() => clearHistoryUpTo(log, member, upTo));
    return toMemberReadState(log, member, true);
  }

  async forgetHistory(user: Uuid): ReturnType<ConversationRpc["forgetHistory"]> {
    return this.#group ? this.#group.forgetHistory(user) : conversationNotFound;
  }

  async deleteForEveryone(user: Uuid, seq: number): ReturnType<ConversationRpc["deleteForEveryone"]> {
    const log = this.#log;
    const member = log?.members.findActive(user);
    if (!log || !member) return conversationNotFound;
    const done = log.transaction(() => replaceByTombstone(log, member, log.findVisible(member, seq)));
    if (isRefusal(done)) return done;
    this.#notifier.notifyDeleted(log, member, done);
    return toDeletionResult(done);
  }

  async deletePending(user: Uuid, cid: Uuid): ReturnType<ConversationRpc["deletePending"]> {
    const member = this.#log?.members.findActive(user);
    return member && this.#appender ? this.#appender.deletePending(member, cid) : conversationNotFound;
  }

  async editMessage(user: Uuid, edit: MessageEdit): ReturnType<ConversationRpc["editMessage"]> {
    const member = this.#log?.members.findActive(user);
    return member && this.#appender ? this.#appender.edit(member, edit) : conversationNotFound;
  }

  async react(user: Uuid, command: CommandOf<"react">): ReturnType<ConversationRpc["react"]> {
    const log = this.#log;
    const member = log?.members.findActive(user);
    if (!log || !member) return conversationNotFound;
    const done = log.transaction(() => applyReaction(log, member, command));
    if (isRefusal(done)) return done;
    this.#notifier.notifyReaction(log, member, done);
    return { revision: done.revision };
  }

  async pinMessage(user: Uuid, command: CommandOf<"pinMessage">): ReturnType<ConversationRpc["pinMessage"]> {
    const log = this.#log;
    const member = log?.members.findActive(user);
    if (!log || !member) return conversationNotFound;
    const done = log.transaction(() => applyPin(log, member, command, Date.now()));
    if (isRefusal(done)) return done;
    this.#notifier.notifyPin(log, member, done);
    return { pinned: listPinnedFor(log.pinned, member, log.head) };
  }

  async listReactors(
    user: Uuid,
    ...[seq, query]: [number, { emoji?: string | undefined; before?: number | undefined }]
  ): ReturnType<ConversationRpc["listReactors"]> {
    const member = this.#log?.members.findReader(user);
    return this.#log && member ? listReactors(this.#log, member, seq, query) : conversationNotFound;
  }

  async getReactionNews(user: Uuid, since: number): ReturnType<ConversationRpc["getReactionNews"]> {
    const member = this.#log?.members.findActive(user);
    return this.#log && member ? readReactionNews(this.#log, member, since) : conversationNotFound;
  }

  async setBlocked(user: Uuid, isBlocked: boolean): Promise<void> {
    if (!privateMembers(this.#id)?.includes(user))
      throw new Error("only members of a private conversation can block there");
    if (this.#log || isBlocked) this.#ensureAccess().setBlocked(user, isBlocked);
  }

  async removeDeletedUser(user: Uuid): Promise<UserRemoval> {
    return this.#access?.removeDeletedUser(user) ?? { replaced: null };
  }

  async anonymizeForwards(author: Uuid): Promise<void> {
    const log = this.#log;
    if (log) this.#notifier.notify(log.transaction(() => anonymizeForwardsOf(log, author)));
  }

  async runCallCommand(user: Uuid, command: CallCommand, session?: Uuid): Promise<CallSnapshot | Refusal> {
    const member = this.#log?.members.findActive(user);
    return member && this.#callController
      ? this.#callController.runCommand(member, command, session)
      : conversationNotFound;
  }

  async refuseCallAsBusy(user: Uuid, call: Uuid): Promise<CallSnapshot | Refusal> {
    const member = this.#log?.members.findActive(user);
    return member && this.#callController ? this.#callController.refuseAsBusy(member, call) : conversationNotFound;
  }

  async cancelCall(user: Uuid, call: Uuid): Promise<CallSnapshot | Refusal> {
    const member = this.#log?.members.findActive(user);
    return member && this.#callController ? this.#callController.cancelCall(member, call) : conversationNotFound;
  }

  async endCallOfSessions(user: Uuid, sessions: Uuid[] | "all"): Promise<CallSnapshot | Refusal> {
    const member = this.#log?.members.findActive(user);
    return member && this.#callController ? this.#callController.endSessions(member, sessions) : conversationNotFound;
  }

  async getCallState(user: Uuid, call: Uuid, isRinging = false): Promise<CallSnapshot | Refusal> {
    const member = this.#log?.members.findActive(user);
    if (member && isRinging) this.#callController?.reportRing(member, call);
    return member && this.#callController ? this.#callController.find(member, call) : conversationNotFound;
  }

  async recordCallHeartbeat(user: Uuid, call: Uuid, heartbeat: CallHeartbeat): Promise<boolean> {
    const member = this.#log?.members.findActive(user);
    if (!member || !this.#callController?.recordHeartbeat(member, call, heartbeat)) return false;
    if (heartbeat.peerSilentMs !== undefined)
      this.ctx.waitUntil(this.#endUnreachableCall(this.#callController, member, call));
    return true;
  }

  /**
   * Ends the call if the peer's device has no connection to the server. A killed page leaves no socket behind; a device
   * in a tunnel keeps its socket, and the call waits for it.
   */
  async #endUnreachableCall(controller: CallController, member: Member, call: Uuid): Promise<void> {
    const unreachable = controller.findUnreachable(member, call);
    if (!unreachable) return;
    const { user } = unreachable.other;
    try {
      if (!(await getUserChannelStub(this.env, user).mayReconnect(unreachable.device)))
        controller.endUnreachable(member, call);
    } catch (error) {
      logWarning("querying a device's connection failed", error);
    }
  }

  async createGroup(owner: Uuid, name: string, people: AddedMember[]): Promise<GroupChangeResult | Refusal> {
    const id = this.#id;
    if (privateMembers(id)) throw new Error("a private conversation is not a group");
    const isNew = !this.#log;
    if (!this.#log) {
      const log = createGroupLog(this.ctx.storage, id, { owner, name, people }, Date.now());
      if (isRefusal(log)) return log;
      this.#startLog(log);
    }
    return this.#group ? this.#group.confirmCreation(owner, isNew) : { error: "group_exists" };
  }

  async runGroupCommand(user: Uuid, command: GroupCommand): Promise<GroupChangeResult | Refusal> {
    return this.#group ? this.#group.runCommand(user, command) : groupNotFound;
  }

  async checkNewMembers(...args: Parameters<GroupController["checkNewMembers"]>): Promise<NewMemberCheck | Refusal> {
    return this.#group ? this.#group.checkNewMembers(...args) : groupNotFound;
  }

  async listCandidates(user: Uuid): ReturnType<ConversationRpc["listCandidates"]> {
    return this.#group ? this.#group.listCandidates(user) : groupNotFound;
  }

  async findInvitation(...args: Parameters<GroupController["findInvitation"]>): Promise<InvitingGroup | Refusal> {
    return this.#group ? this.#group.findInvitation(...args) : invitationNotFound;
  }

  async answerInvitation(user: Uuid, isAccepted: boolean): Promise<GroupChangeResult | Refusal> {
    return this.#group ? this.#group.answerInvitation(user, isAccepted) : invitationNotFound;
  }

  async getGroup(user: Uuid): Promise<Group | Refusal> {
    return this.#group ? this.#group.getGroup(user) : groupNotFound;
  }

  async listMembers(
    user: Uuid,
    query: Parameters<GroupController["listMembers"]>[1],
  ): Promise<MemberEntries | Refusal> {
    return this.#group ? this.#group.listMembers(user, query) : groupNotFound;
  }

  async findMembers(user: Uuid, people: readonly Uuid[]): Promise<Uuid[]> {
    return this.#group?.findMembers(user, people) ?? [];
  }

  async listReceipts(user: Uuid, seq: number, seesReads: boolean): Promise<Receipts | Refusal> {
    const member = this.#log?.members.findActive(user);
    return this.#log && member ? listReceiptsOf(this.#log, member, seq, seesReads) : conversationNotFound;
  }

  async getMessageInfo(user: Uuid, seq: number, seesReads: boolean): Promise<MessageInfo | Refusal> {
    const member = this.#log?.members.findActive(user);
    return this.#log && member ? getMessageInfo(this.#log, member, seq, seesReads) : conversationNotFound;
  }

  async relayTyping(user: Uuid): Promise<void> {
    this.#group?.relayTyping(user);
  }

  async listRevisions(user: Uuid, query: CommandOf<"revised">): Promise<RevisedResult | Refusal> {
    const member = this.#log?.members.findReader(user);
    return this.#log && member ? readRevisionsPage(this.#log, member, query) : conversationNotFound;
  }

  async canReadFile(user: Uuid, fileId: Uuid): Promise<boolean> {
    const member = this.#log?.members.findReader(user);
    return this.#log !== undefined && member !== undefined && isFileReadable(this.#log, member, fileId);
  }

  async findOriginal(user: Uuid, seq: number): ReturnType<ConversationRpc["findOriginal"]> {
    const member = this.#log?.members.findReader(user);
    if (!this.#log || !member) return conversationNotFound;
    return findForwardOriginal(this.#log, member, seq) ?? { error: "message_not_found" };
  }

  async mayAnswerInPrivate(user: Uuid, author: Uuid, seq: number): Promise<{ isAllowed: boolean }> {
    const member = this.#log?.members.findReader(user);
    return { isAllowed: !!this.#log && !!member && mayAnswerInPrivate(this.#log, member, author, seq) };
  }

  async listMessages(user: Uuid, query: CommandOf<"page">): Promise<PageResult | Refusal> {
    const member = this.#log?.members.findReader(user);
    return this.#log && member ? readMessagePage(this.#log, member, query) : conversationNotFound;
  }

  async searchMessages(
    user: Uuid,
    ...[query, budget, sender]: [CommandOf<"search">, SearchBudget, sender?: Uuid]
  ): Promise<SearchSlice | Refusal> {
    const log = this.#log;
    // Only at the beginning of a request, so that what was found is shown at once.
    const mayWait = budget.rows === searchRowsMax && log?.members.findReader(user) !== undefined;
    const isWaiting = mayWait && this.#searchIndexer.isAhead(log, query.before);
    if (isWaiting) await this.#searchIndexer.waitForSlices();
    const member = log?.members.findReader(user);
    if (!log || !member) return conversationNotFound;
    const found =
      sender === undefined
        ? searchLog(log, member, query, budget)
        : searchLogOfSender(log, member, query, budget, sender);
    if (this.#searchIndexer.start(log)) this.#notifier.scheduleAlarm(Date.now() + 1);
    return isWaiting ? { ...found, isLast: true } : found;
  }

  override alarm(): Promise<void> {
    return this.#notifier.alarm();
  }

  /** Id of this conversation, by which callers address the object. */
  get #id(): ConversationId {
    const id = this.#log?.id ?? this.ctx.id.name;
    if (id === undefined) throw new Error("the object was not addressed by the id of a conversation");
    return id;
  }

  #ensureAccess(): AccessController {
    return this.#access ?? this.#startLog(ConversationLog.create(this.ctx.storage, this.#id));
  }

  #startLog(log: ConversationLog): AccessController {
    this.#notifier.start(log);
    return this.#attachLog(log);
  }

  #attachLog(log: ConversationLog): AccessController {
    this.#log = log;
    this.#appender = new MessageAppender(log, this.#notifier, readLimitFactor(this.env));
    this.#callController = new CallController(log, this.#notifier);
    this.#group = isGroupLog(log) ? new GroupController(log, this.#notifier) : undefined;
    this.#access = new AccessController(log, this.#callController, this.#notifier);
    return this.#access;
  }
}
