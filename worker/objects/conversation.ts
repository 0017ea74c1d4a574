import { DurableObject } from "cloudflare:workers";
import { type ConversationId, privateMembers, type Uuid } from "#contract/ids.ts";
import type { ReadState } from "#contract/messages/positions.ts";
import { type CommandOf, isRefusal, type Refusal } from "#contract/wire/commands.ts";
import { readLimitFactor } from "#worker/lib/limits/local-limits.ts";
import { AccessController } from "./conversation/access-controller.ts";
import { CallController } from "./conversation/calls/call-controller.ts";
import { endUnreachableCall, requestRingState } from "./conversation/calls/call-devices.ts";
import { MemberNotifier } from "./conversation/delivery/notifier.ts";
import { GroupController, groupNotFound, invitationNotFound } from "./conversation/groups/group.ts";
import { createGroupLog } from "./conversation/groups/group-commands.ts";
import { isGroupLog } from "./conversation/groups/group-view.ts";
import { ConversationLog } from "./conversation/log/conversation-log.ts";
import type { Member } from "./conversation/log/member-table.ts";
import { findForwardOriginal, isFileReadable } from "./conversation/messages/attachment-access.ts";
import { readMessagePage } from "./conversation/messages/history.ts";
import { MessageAppender } from "./conversation/messages/message-appender.ts";
import { MessageChanges } from "./conversation/messages/message-changes.ts";
import { readReactionNews } from "./conversation/messages/reaction-news.ts";
import { listReactors } from "./conversation/messages/reactions.ts";
import { getMessageInfo, listReceiptsOf } from "./conversation/messages/read-state.ts";
import { mayAnswerInPrivate } from "./conversation/messages/reply-checks.ts";
import { readRevisionsPage } from "./conversation/messages/revisions.ts";
import { ConversationSearch } from "./conversation/search/conversation-search.ts";
import { SearchIndexer } from "./conversation/search/search-indexer.ts";
import type { ConversationRpc } from "./rpc/conversation-rpc.ts";
import { isRestored, readRestoreGeneration } from "./shared/epochs.ts";

const conversationNotFound: Refusal = { error: "conversation_not_found" };
const messageNotFound: Refusal = { error: "message_not_found" };

/** Arguments and answer of a method. */
type Args<T extends keyof ConversationRpc> = Parameters<ConversationRpc[T]>;
type Answer<T extends keyof ConversationRpc> = ReturnType<ConversationRpc[T]>;

/** Parts of a conversation that has a log. */
type Parts = {
  log: ConversationLog;
  appender: MessageAppender;
  changes: MessageChanges;
  calls: CallController;
  access: AccessController;
  search: ConversationSearch;
  /** Undefined in a private conversation. */
  group: GroupController | undefined;
};

/**
 * Durable Object of one conversation. It is the sequencer and only writer of the messages, and it decides who may do
 * what. Each change is committed synchronously together with the alarm that notifies the members if this instance dies
 * before it has done so.
 */
export class Conversation extends DurableObject<Env> implements ConversationRpc {
  #parts: Parts | undefined;
  readonly #notifier: MemberNotifier;
  readonly #searchIndexer = new SearchIndexer();

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env);
    const log = ConversationLog.find(ctx.storage);
    const callTimeouts = {
      applyDue: () => this.#parts?.calls.applyTimeouts(),
      findNext: () => this.#parts?.calls.nextTimeoutAt,
    };
    this.#notifier = new MemberNotifier(ctx, env, log, { callTimeouts, backgroundWork: this.#searchIndexer });
    if (log) ctx.waitUntil(requestRingState(env, log, this.#attachLog(log).calls));
    void ctx.blockConcurrencyWhile(async () => {
      this.#notifier.recover(await ctx.storage.getAlarm());
      if (!log || !isRestored(log.epoch, this.#generation)) return;
      log.transaction(() => log.renewEpoch(this.#generation));
      this.#notifier.handleNewEpoch(log);
    });
  }

  // ── access ───────────────────────────────────────────────────────────────────────────────────

  async openConnection(connection: Uuid): Promise<void> {
    this.#ensureParts().access.openConnection(connection);
  }

  async closeConnection(connection: Uuid): Promise<void> {
    this.#ensureParts().access.closeConnection(connection);
  }

  async setBlocked(user: Uuid, isBlocked: boolean): Promise<void> {
    if (!privateMembers(this.#id)?.includes(user))
      throw new Error("only members of a private conversation can block there");
    if (this.#parts || isBlocked) this.#ensureParts().access.setBlocked(user, isBlocked);
  }

  async removeDeletedUser(user: Uuid): Answer<"removeDeletedUser"> {
    return this.#parts?.access.removeDeletedUser(user) ?? { replaced: null };
  }

  // ── messages ─────────────────────────────────────────────────────────────────────────────────

  async sendMessages(...[user, messages, position]: Args<"sendMessages">): Answer<"sendMessages"> {
    // Former members included: they still get the outcome of messages they sent before they left.
    const member = this.#parts?.log.members.find(user);
    return this.#parts && member ? this.#parts.appender.send(member, messages, position) : conversationNotFound;
  }

  async editMessage(...[user, edit]: Args<"editMessage">): Answer<"editMessage"> {
    return this.#runForMember(user, ({ appender }, member) => appender.edit(member, edit));
  }

  async deletePending(user: Uuid, cid: Uuid): Answer<"deletePending"> {
    return this.#runForMember(user, ({ appender }, member) => appender.deletePending(member, cid));
  }

  async deleteForEveryone(user: Uuid, seq: number): Answer<"deleteForEveryone"> {
    return this.#runForMember(user, ({ changes }, member) => changes.deleteForEveryone(member, seq));
  }

  async react(user: Uuid, command: CommandOf<"react">): Answer<"react"> {
    return this.#runForMember(user, ({ changes }, member) => changes.react(member, command));
  }

  async pinMessage(user: Uuid, command: CommandOf<"pinMessage">): Answer<"pinMessage"> {
    return this.#runForMember(user, ({ changes }, member) => changes.pin(member, command));
  }

  async updateReceipts(user: Uuid, readState: ReadState, isVisibleToPeers: boolean): Answer<"updateReceipts"> {
    return this.#runForMember(user, ({ changes }, member) =>
      changes.updateReceipts(member, readState, isVisibleToPeers),
    );
  }

  async clearHistory(user: Uuid, upTo: number): Answer<"clearHistory"> {
    return this.#runForReader(user, ({ changes }, member) => changes.clearHistory(member, upTo));
  }

  async anonymizeForwards(author: Uuid): Promise<void> {
    this.#parts?.changes.anonymizeForwards(author);
  }

  async listMessages(user: Uuid, query: CommandOf<"page">): Answer<"listMessages"> {
    return this.#runForReader(user, ({ log }, member) => readMessagePage(log, member, query));
  }

  async listRevisions(user: Uuid, query: CommandOf<"revised">): Answer<"listRevisions"> {
    return this.#runForReader(user, ({ log }, member) => readRevisionsPage(log, member, query));
  }

  async searchMessages(...args: Args<"searchMessages">): Answer<"searchMessages"> {
    return (await this.#parts?.search.search(...args)) ?? conversationNotFound;
  }

  async listReactors(...[user, seq, query]: Args<"listReactors">): Answer<"listReactors"> {
    return this.#runForReader(user, ({ log }, member) => listReactors(log, member, seq, query));
  }

  async getReactionNews(user: Uuid, since: number): Answer<"getReactionNews"> {
    return this.#runForMember(user, ({ log }, member) => readReactionNews(log, member, since));
  }

  async listReceipts(user: Uuid, seq: number, seesReads: boolean): Answer<"listReceipts"> {
    return this.#runForMember(user, ({ log }, member) => listReceiptsOf(log, member, seq, seesReads));
  }

  async getMessageInfo(user: Uuid, seq: number, seesReads: boolean): Answer<"getMessageInfo"> {
    return this.#runForMember(user, ({ log }, member) => getMessageInfo(log, member, seq, seesReads));
  }

  async canReadFile(user: Uuid, fileId: Uuid): Promise<boolean> {
    return this.#runForReader(user, ({ log }, member) => isFileReadable(log, member, fileId)) === true;
  }

  async findOriginal(user: Uuid, seq: number): Answer<"findOriginal"> {
    return this.#runForReader(user, ({ log }, member) => findForwardOriginal(log, member, seq) ?? messageNotFound);
  }

  async mayAnswerInPrivate(user: Uuid, author: Uuid, seq: number): Answer<"mayAnswerInPrivate"> {
    return {
      isAllowed: this.#runForReader(user, ({ log }, member) => mayAnswerInPrivate(log, member, author, seq)) === true,
    };
  }

  // ── calls ────────────────────────────────────────────────────────────────────────────────────

  async runCallCommand(...[user, command, session]: Args<"runCallCommand">): Answer<"runCallCommand"> {
    return this.#runForMember(user, ({ calls }, member) => calls.runCommand(member, command, session));
  }

  async refuseCallAsBusy(user: Uuid, call: Uuid): Answer<"refuseCallAsBusy"> {
    return this.#runForMember(user, ({ calls }, member) => calls.refuseAsBusy(member, call));
  }

  async cancelCall(user: Uuid, call: Uuid): Answer<"cancelCall"> {
    return this.#runForMember(user, ({ calls }, member) => calls.cancelCall(member, call));
  }

  async endCallOfSessions(user: Uuid, sessions: Uuid[] | "all"): Answer<"endCallOfSessions"> {
    return this.#runForMember(user, ({ calls }, member) => calls.endSessions(member, sessions));
  }

  async getCallState(user: Uuid, call: Uuid, isRinging = false): Answer<"getCallState"> {
    return this.#runForMember(user, ({ calls }, member) => {
      if (isRinging) calls.reportRing(member, call);
      return calls.find(member, call);
    });
  }

  async recordCallHeartbeat(...[user, call, heartbeat]: Args<"recordCallHeartbeat">): Promise<boolean> {
    const isRecorded = this.#runForMember(user, ({ calls }, member) => {
      if (!calls.recordHeartbeat(member, call, heartbeat)) return false;
      if (heartbeat.peerSilentMs !== undefined) this.ctx.waitUntil(endUnreachableCall(this.env, calls, member, call));
      return true;
    });
    return isRecorded === true;
  }

  // ── groups ───────────────────────────────────────────────────────────────────────────────────

  async createGroup(...[owner, name, people]: Args<"createGroup">): Answer<"createGroup"> {
    const id = this.#id;
    if (privateMembers(id)) throw new Error("a private conversation is not a group");
    const isNew = !this.#parts;
    if (!this.#parts) {
      const founding = { owner, name, people, generation: this.#generation };
      const log = createGroupLog(this.ctx.storage, id, founding, Date.now());
      if (isRefusal(log)) return log;
      this.#startLog(log);
    }
    return this.#group ? this.#group.confirmCreation(owner, isNew) : { error: "group_exists" };
  }

  async runGroupCommand(...args: Args<"runGroupCommand">): Answer<"runGroupCommand"> {
    return this.#group ? this.#group.runCommand(...args) : groupNotFound;
  }

  async checkNewMembers(...args: Args<"checkNewMembers">): Answer<"checkNewMembers"> {
    return this.#group ? this.#group.checkNewMembers(...args) : groupNotFound;
  }

  async listCandidates(user: Uuid): Answer<"listCandidates"> {
    return this.#group ? this.#group.listCandidates(user) : groupNotFound;
  }

  async findInvitation(...args: Args<"findInvitation">): Answer<"findInvitation"> {
    return this.#group ? this.#group.findInvitation(...args) : invitationNotFound;
  }

  async answerInvitation(user: Uuid, isAccepted: boolean): Answer<"answerInvitation"> {
    return this.#group ? this.#group.answerInvitation(user, isAccepted) : invitationNotFound;
  }

  async getGroup(user: Uuid): Answer<"getGroup"> {
    return this.#group ? this.#group.getGroup(user) : groupNotFound;
  }

  async listMembers(...args: Args<"listMembers">): Answer<"listMembers"> {
    return this.#group ? this.#group.listMembers(...args) : groupNotFound;
  }

  async findMembers(user: Uuid, people: readonly Uuid[]): Promise<Uuid[]> {
    return this.#group?.findMembers(user, people) ?? [];
  }

  async forgetHistory(user: Uuid): Answer<"forgetHistory"> {
    return this.#group ? this.#group.forgetHistory(user) : conversationNotFound;
  }

  async relayTyping(user: Uuid, hiddenFrom: readonly Uuid[]): Promise<void> {
    this.#group?.relayTyping(user, hiddenFrom);
  }

  override alarm(): Promise<void> {
    return this.#notifier.alarm();
  }

  /** Runs for a present member, and refuses everybody else. */
  #runForMember<T>(user: Uuid, run: (parts: Parts, member: Member) => T): T | Refusal {
    const member = this.#parts?.log.members.findActive(user);
    return this.#parts && member ? run(this.#parts, member) : conversationNotFound;
  }

  /** Runs for a member or a former one who keeps the history they had. */
  #runForReader<T>(user: Uuid, run: (parts: Parts, member: Member) => T): T | Refusal {
    const member = this.#parts?.log.members.findReader(user);
    return this.#parts && member ? run(this.#parts, member) : conversationNotFound;
  }

  /** Id of this conversation, by which callers address the object. */
  get #id(): ConversationId {
    const id = this.#parts?.log.id ?? this.ctx.id.name;
    if (id === undefined) throw new Error("the object was not addressed by the id of a conversation");
    return id;
  }

  get #group(): GroupController | undefined {
    return this.#parts?.group;
  }

  #ensureParts(): Parts {
    const { storage } = this.ctx;
    return this.#parts ?? this.#startLog(ConversationLog.create(storage, this.#id, { generation: this.#generation }));
  }

  /** Restore generation in force for this object. */
  get #generation(): number {
    return readRestoreGeneration(this.env, this.#id);
  }

  #startLog(log: ConversationLog): Parts {
    this.#notifier.start(log);
    return this.#attachLog(log);
  }

  #attachLog(log: ConversationLog): Parts {
    const notifier = this.#notifier;
    const calls = new CallController(log, notifier);
    this.#parts = {
      log,
      appender: new MessageAppender(log, notifier, readLimitFactor(this.env)),
      changes: new MessageChanges(log, notifier),
      calls,
      access: new AccessController(log, calls, notifier),
      search: new ConversationSearch(log, this.#searchIndexer, (at) => notifier.scheduleAlarm(at)),
      group: isGroupLog(log) ? new GroupController(log, notifier) : undefined,
    };
    return this.#parts;
  }
}
