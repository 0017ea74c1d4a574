import { fanOutAlarmMs, fanOutRetryMaxMs } from "#contract/limits/delivery.ts";
import { groupReactionHoldMs, groupReceiptHoldMs } from "#contract/limits/groups.ts";
import { logError } from "#worker/lib/log.ts";
import type { ConversationLog } from "#worker/objects/conversation/log/conversation-log.ts";
import type { LowestReadState, Member } from "#worker/objects/conversation/log/member-table.ts";
import { isFormerReader, isVisibleSeq } from "#worker/objects/conversation/log/memberships.ts";
import type { TombstoneResult } from "#worker/objects/conversation/messages/deletions.ts";
import type { PinResult } from "#worker/objects/conversation/messages/pins.ts";
import type { ReactionResult } from "#worker/objects/conversation/messages/reactions.ts";
import { listReachedAuthors } from "#worker/objects/conversation/messages/read-state.ts";
import type { NoticeOutcome } from "#worker/objects/rpc/notices.ts";
import { getUserChannelStub } from "#worker/objects/stubs.ts";
import { buildNotice } from "./build-notice.ts";
import { type DeliveryProgress, FanOut } from "./fan-out.ts";
import { FileRelease } from "./file-release.ts";
import { purgeMessages } from "./purge.ts";

const farAlarmMs = 60 * 60_000; // longer than any wait for a delivery or a call

export const nothingDelivered: DeliveryProgress = { head: 0, revision: 0 };

/** Timeouts of a call: applies those that are due, and returns the time of the next. */
type CallTimeouts = { applyDue(): void; findNext(): number | undefined };

/** Work that alarms do in parts while nothing else is to be done. `resume`: continues that of a previous instance. */
type BackgroundWork = {
  resume(log: ConversationLog): void;
  run(log: ConversationLog): Promise<void>;
  hasWork(log: ConversationLog): boolean;
};

/**
 * Decides which members to notify of a change, and keeps the alarm that finishes the delivery if this instance dies.
 * The alarm is set in the same synchronous run as the commit, without an `await` between the two.
 */
export class MemberNotifier {
  readonly #ctx: DurableObjectState;
  readonly #env: Env;
  #log: ConversationLog | undefined;
  #fanOut: FanOut;
  /** Alarm time set by this instance. */
  #alarmAt = Number.POSITIVE_INFINITY;
  /** Whether a previous instance left unconfirmed deliveries. */
  #isRecovering = false;
  readonly #fileRelease: FileRelease;
  readonly #backgroundWork: BackgroundWork;
  /** Timeouts of the conversation's call. */
  readonly #callTimeouts: CallTimeouts;
  /** Group read state at the last notification of the authors, while the next notification is pending. */
  #lastNotifiedReadState: LowestReadState | undefined;
  /** Whether reactions in a group wait for their notification. */
  #hasPendingReactions = false;

  constructor(
    ctx: DurableObjectState,
    env: Env,
    log: ConversationLog | undefined,
    { callTimeouts, backgroundWork }: { callTimeouts: CallTimeouts; backgroundWork: BackgroundWork },
  ) {
    this.#callTimeouts = callTimeouts;
    this.#backgroundWork = backgroundWork;
    this.#ctx = ctx;
    this.#env = env;
    this.#log = log;
    this.#fanOut = this.#makeFanOut();
    this.#fileRelease = new FileRelease(env, () => this.#setAlarm(Date.now() + fanOutRetryMaxMs));
  }

  /** Attaches the log of a new conversation. */
  start(log: ConversationLog): void {
    this.#log = log;
    this.#fanOut = this.#makeFanOut();
  }

  /**
   * Resumes the work of a previous instance, which had set an alarm, or lost it while a timeout of the call was
   * pending. An alarm that is far ahead only purges earlier texts: nothing is undelivered.
   */
  recover(alarmAt: number | null): void {
    const timeoutAt = this.#callTimeouts.findNext();
    if (alarmAt !== null && alarmAt > Date.now() + farAlarmMs) this.#alarmAt = alarmAt;
    if ((alarmAt === null || alarmAt === this.#alarmAt) && timeoutAt === undefined) return;
    this.#isRecovering = true;
    this.#fileRelease.markDue();
    if (alarmAt !== null) this.#alarmAt = alarmAt;
    if (timeoutAt !== undefined) this.#setAlarm(timeoutAt);
  }

  /** Notifies these members before all others. */
  notifyUrgently(members: readonly Member[]): void {
    this.#setAlarm(Date.now() + fanOutAlarmMs);
    for (const { number } of members) this.#fanOut.scheduleUrgent(number);
  }

  /** Sets the alarm for a timeout. */
  scheduleAlarm(at: number): void {
    this.#setAlarm(at);
  }

  /** Records progress that a member's channel reported. */
  confirmDelivered({ number }: Member, delivered: DeliveryProgress): void {
    this.#fanOut.confirm(number, delivered);
  }

  /** Notifies all members after a new epoch: their channels have nothing of the log. */
  handleNewEpoch(log: ConversationLog): void {
    const { all, active, leaving, formerReaders } = log.members;
    for (const { number } of all) this.#fanOut.resetProgress(number);
    this.notify([...new Set([...active, ...leaving, ...formerReaders])], true);
  }

  notify(members: readonly Member[], needsCount = false): void {
    if (members.length === 0) return;
    this.#setAlarm(Date.now() + fanOutAlarmMs);
    for (const { number } of members) this.#fanOut.schedule(number, needsCount);
  }

  /** Notifies the members of new messages. The authors' channels get them in the results of `sendMessages`. */
  notifySent(log: ConversationLog, authors: ReadonlySet<number>): void {
    this.#setAlarm(Date.now() + fanOutAlarmMs);
    this.notify(log.members.active.filter(({ number, isBlocking }) => !isBlocking && !authors.has(number)));
    for (const author of authors) this.#fanOut.markAnswered(author);
  }

  /** Notifies those who had a deleted message, former members too, and releases its file. */
  notifyDeleted(log: ConversationLog, author: Member, { seq, isNew, isUndelivered }: TombstoneResult): void {
    if (!isNew) return;
    const { active, formerReaders } = log.members;
    const formerOnes = formerReaders.filter((member) => isVisibleSeq(member, log.head, seq));
    this.notify(isUndelivered ? [author] : [...active, ...formerOnes], true);
    this.releaseFiles(log);
  }

  /** Notifies those who see that a member pinned or unpinned a message. */
  notifyPin(log: ConversationLog, member: Member, { isNew, isUndelivered }: PinResult): void {
    if (isNew) this.notify(isUndelivered ? [member] : log.members.active);
  }

  /** Notifies all members of a group change, first the actor and those who are no longer members. */
  notifyGroupChanged(log: ConversationLog, actor: Member): void {
    const newestVersion = log.group?.roster;
    const { active, leaving } = log.members;
    this.#setAlarm(Date.now() + fanOutAlarmMs);
    // The actor must not be scheduled twice, which would notify them again after all the others.
    const others = active.filter((member) => member !== actor);
    this.#fanOut.scheduleUrgent(actor.number, actor.version === newestVersion);
    for (const member of leaving) if (member !== actor) this.#fanOut.scheduleUrgent(member.number);
    for (const { number, version } of others) this.#fanOut.schedule(number, version === newestVersion);
  }

  /** Resolves when the member's channel has everything, or after a time limit. */
  waitUntilDelivered({ number }: Member): Promise<void> {
    return this.#fanOut.waitUntilDelivered(number);
  }

  /**
   * Collects the receipts of many members into one notification of the authors, since most receipts do not change what
   * an author sees.
   */
  scheduleReceipts(lowestBefore: LowestReadState): void {
    this.#setAlarm(Date.now() + fanOutAlarmMs);
    if (this.#lastNotifiedReadState) return;
    this.#lastNotifiedReadState = lowestBefore;
    setTimeout(() => {
      const heldReceipts = this.#lastNotifiedReadState;
      this.#lastNotifiedReadState = undefined;
      if (this.#log && heldReceipts) this.notify(listReachedAuthors(this.#log, heldReceipts));
    }, groupReceiptHoldMs);
  }

  /**
   * Notifies the members of a reaction. In a group those of `groupReactionHoldMs` are collected into one notification,
   * since many may react to the same message at once.
   */
  notifyReaction(log: ConversationLog, member: Member, { isNew, isUndelivered }: ReactionResult): void {
    if (!isNew) return;
    if (!log.group) this.notify(isUndelivered ? [member] : log.members.active);
    else this.#collectReactions(log);
  }

  #collectReactions(log: ConversationLog): void {
    this.#setAlarm(Date.now() + fanOutAlarmMs);
    if (this.#hasPendingReactions) return;
    this.#hasPendingReactions = true;
    setTimeout(() => {
      this.#hasPendingReactions = false;
      this.notify(log.members.active.filter(({ number }) => this.#fanOut.isBehind(number)));
    }, groupReactionHoldMs);
  }

  /** Relays typing to the current members, best effort. */
  relayTyping({ id }: ConversationLog, member: Member, others: readonly Member[]): void {
    const from = { user: member.user, number: member.number };
    const sendTyping = async (other: Member): Promise<void> => {
      if (member.state !== "in" || other.state !== "in") return;
      await getUserChannelStub(this.#env, other.user).deliverTyping(id, from);
    };
    this.#fanOut.runBestEffort(others.map((other) => () => sendTyping(other)));
  }

  /** Schedules the purge of an ended conversation and releases unreferenced files. */
  schedulePurge(log: ConversationLog): void {
    if (log.hasNoReaders) this.#setAlarm(Date.now() + 1);
    this.releaseFiles(log);
  }

  /** Releases the files of deleted messages. */
  releaseFiles(log: ConversationLog): void {
    this.#fileRelease.markDue();
    this.#ctx.waitUntil(this.#fileRelease.run(log));
  }

  /** Retries unconfirmed deliveries. May run twice: notices are idempotent. */
  async alarm(): Promise<void> {
    const isOwn = Number.isFinite(this.#alarmAt);
    this.#alarmAt = Number.POSITIVE_INFINITY;
    try {
      this.#callTimeouts.applyDue();
      if (this.#isRecovering || !isOwn) {
        this.#isRecovering = false;
        if (this.#log) this.#backgroundWork.resume(this.#log);
        const { active = [], leaving = [], formerReaders = [] } = this.#log?.members ?? {};
        this.#fanOut.recover([...new Set([...active, ...leaving, ...formerReaders])].map(({ number }) => number));
      }
      await this.#fanOut.retryDue();
      if (this.#log) await this.#purge(this.#log);
      if (this.#log) await this.#backgroundWork.run(this.#log);
    } catch (error) {
      logError("a conversation's alarm failed", error);
      this.#setAlarm(Date.now() + fanOutAlarmMs);
    } finally {
      const next = this.#fanOut.nextRetryAt();
      if (next !== undefined) this.#setAlarm(Math.max(next, Date.now() + 1));
      const timeoutAt = this.#callTimeouts.findNext();
      if (timeoutAt !== undefined) this.#setAlarm(Math.max(timeoutAt, Date.now() + 1));
      const purgeAt = this.#log?.earlierTexts.nextPurgeAt;
      if (purgeAt !== undefined) this.#setAlarm(Math.max(purgeAt, Date.now() + 1));
      if (this.#log && this.#backgroundWork.hasWork(this.#log)) this.#setAlarm(Date.now() + 1);
      // Pending receipts and reactions need an alarm that survives this instance.
      if (this.#lastNotifiedReadState || this.#hasPendingReactions) this.#setAlarm(Date.now() + fanOutAlarmMs);
    }
  }

  /** Purges one batch of a conversation without readers, releases its files and purges earlier texts. */
  async #purge(log: ConversationLog): Promise<void> {
    if (log.hasNoReaders && !log.messages.isEmpty) {
      log.transaction(() => purgeMessages(log));
      this.#fileRelease.markDue();
      this.#setAlarm(Date.now() + 1);
    }
    log.earlierTexts.purge(Date.now());
    await this.#fileRelease.run(log);
  }

  #makeFanOut(): FanOut {
    const progressOf = (number: number): DeliveryProgress => {
      const log = this.#log;
      const member = log?.members.findByNumber(number);
      return log && member ? { head: log.headFor(member), revision: log.revision } : nothingDelivered;
    };
    return new FanOut(
      {
        progressOf,
        notify: (number, delivered, needsCount) => this.#send(number, delivered, needsCount),
        onFailure: (retryAt) => this.#setAlarm(retryAt),
      },
      new Map(this.#log?.members.all.map(({ number }) => [number, progressOf(number)])),
    );
  }

  async #send(number: number, delivered: DeliveryProgress, needsCount: boolean): Promise<NoticeOutcome> {
    const log = this.#log;
    const member = log?.members.findByNumber(number);
    const isNotifiable = member?.state !== "quiet" && member?.state !== "out";
    if (!log || !member || !(isNotifiable || isFormerReader(member))) return "written";
    const notice = buildNotice(log, member, delivered, needsCount);
    const outcome = await getUserChannelStub(this.#env, member.user).notify(notice);
    const isConfirmed = notice.gone || (isFormerReader(member) && outcome === "written");
    if (isConfirmed && notice.membershipVersion === member.membershipVersion)
      log.transaction(() => log.members.confirmLeft(member));
    return outcome;
  }

  #setAlarm(at: number): void {
    if (this.#alarmAt <= at) return;
    this.#alarmAt = at;
    void this.#ctx.storage.setAlarm(at);
  }
}
