import { fanOutAlarmMs, fanOutRetryMaxMs, groupReceiptHoldMs } from "#contract/limits.ts";
import { logError } from "#worker/lib/log.ts";
import type { ConversationLog } from "#worker/objects/conversation/log/conversation-log.ts";
import type { LowestReadState, Member } from "#worker/objects/conversation/log/member-table.ts";
import type { TombstoneResult } from "#worker/objects/conversation/messages/deletions.ts";
import { listReachedAuthors } from "#worker/objects/conversation/messages/group-receipts.ts";
import { getUserChannelStub } from "#worker/objects/stubs.ts";
import { buildNotice } from "./build-notice.ts";
import { type DeliveryProgress, FanOut } from "./fan-out.ts";
import { FileRelease } from "./file-release.ts";
import { purgeMessages } from "./purge.ts";

export const nothingDelivered: DeliveryProgress = { head: 0, revision: 0 };

/**
 * What there is to tell of a conversation and to whom, with the alarm that tells it should this instance not live long
 * enough. Whatever arms it is part of the commit it is called after: there is no `await` between the two.
 */
export class MemberNotifier {
  readonly #ctx: DurableObjectState;
  readonly #env: Env;
  #log: ConversationLog | undefined;
  #fanOut: FanOut;
  /** When the alarm goes off, as far as this instance has set it. */
  #alarmAt = Number.POSITIVE_INFINITY;
  /** An instance before this one had not heard from everybody: whom it told what is not known. */
  #isRecovering = false;
  readonly #fileRelease: FileRelease;
  /** What time alone makes of the conversation: done when it is due, and when that is next. */
  readonly #clock: { ring(): void; next(): number | undefined };
  /** How the marks of a group were when its authors were told last, while there is something to tell them. */
  #heldReceipts: LowestReadState | undefined;

  constructor(
    ctx: DurableObjectState,
    env: Env,
    log: ConversationLog | undefined,
    clock: { ring(): void; next(): number | undefined },
  ) {
    this.#clock = clock;
    this.#ctx = ctx;
    this.#env = env;
    this.#log = log;
    this.#fanOut = this.#makeFanOut();
    this.#fileRelease = new FileRelease(env, () => this.#setAlarm(Date.now() + fanOutRetryMaxMs));
  }

  /** The conversation has begun. */
  start(log: ConversationLog): void {
    this.#log = log;
    this.#fanOut = this.#makeFanOut();
  }

  /** Whatever an instance before this one left: it had set an alarm, or its alarm was lost while time was to make something. */
  recover(alarmAt: number | null): void {
    const timeoutAt = this.#clock.next();
    if (alarmAt === null && timeoutAt === undefined) return;
    this.#isRecovering = true;
    this.#fileRelease.markDue();
    if (alarmAt !== null) this.#alarmAt = alarmAt;
    if (timeoutAt !== undefined) this.#setAlarm(timeoutAt);
  }

  /** Something was stored of which all hear before anything else, whoever asked for it. */
  notifyUrgently(members: readonly Member[]): void {
    this.#setAlarm(Date.now() + fanOutAlarmMs);
    for (const { number } of members) this.#fanOut.scheduleUrgent(number);
  }

  /** Time will make something of the conversation. */
  scheduleAlarm(at: number): void {
    this.#setAlarm(at);
  }

  /** The member's channel has this much: it said so. */
  confirmDelivered({ number }: Member, delivered: DeliveryProgress): void {
    this.#fanOut.confirm(number, delivered);
  }

  /** The log has another epoch: nobody's channel has anything of it. */
  handleNewEpoch(log: ConversationLog): void {
    for (const { number } of log.members.all) this.#fanOut.resetProgress(number);
    this.notify(log.members.present, true);
  }

  notify(members: readonly Member[], needsCount = false): void {
    if (members.length === 0) return;
    this.#setAlarm(Date.now() + fanOutAlarmMs);
    for (const { number } of members) this.#fanOut.schedule(number, needsCount);
  }

  /** Messages of these authors were stored. Their own channels hear of it in the answers to their calls. */
  notifySent(log: ConversationLog, authors: ReadonlySet<number>): void {
    this.#setAlarm(Date.now() + fanOutAlarmMs);
    this.notify(log.members.present.filter(({ number, isBlocking }) => !isBlocking && !authors.has(number)));
    for (const author of authors) this.#fanOut.markAnswered(author);
  }

  /** A message of this member's is deleted: those who had it hear of that, and the file it named is released. */
  notifyDeleted(log: ConversationLog, author: Member, { isNew, isWithheld }: TombstoneResult): void {
    if (!isNew) return;
    this.notify(isWithheld ? [author] : log.members.present, true);
    this.releaseFiles(log);
  }

  /** Tells everybody of a change to the group: before the others whoever made it, and those who are no members any more. */
  notifyGroupChanged(log: ConversationLog, actor: Member): void {
    const newestVersion = log.group?.roster;
    const { present, leaving } = log.members;
    this.#setAlarm(Date.now() + fanOutAlarmMs);
    // Touched a second time they would be told again, after all the others.
    const others = present.filter((member) => member !== actor);
    this.#fanOut.scheduleUrgent(actor.number, actor.version === newestVersion);
    for (const member of leaving) if (member !== actor) this.#fanOut.scheduleUrgent(member.number);
    for (const { number, version } of others) this.#fanOut.schedule(number, version === newestVersion);
  }

  /** Resolves when the member's channel knows everything there is, or when that takes too long. */
  waitUntilDelivered({ number }: Member): Promise<void> {
    return this.#fanOut.waitUntilDelivered(number);
  }

  /** Many members' marks are one change for those who wrote, and often none. */
  scheduleReceipts(lowestBefore: LowestReadState): void {
    this.#setAlarm(Date.now() + fanOutAlarmMs);
    if (this.#heldReceipts) return;
    this.#heldReceipts = lowestBefore;
    setTimeout(() => {
      const heldReceipts = this.#heldReceipts;
      this.#heldReceipts = undefined;
      if (this.#log && heldReceipts) this.notify(listReachedAuthors(this.#log, heldReceipts));
    }, groupReceiptHoldMs);
  }

  /** Passed on to those who are members when their turn comes, and lost where it does not arrive. */
  relayTyping({ id }: ConversationLog, member: Member, others: readonly Member[]): void {
    const from = { user: member.user, number: member.number };
    const sendTyping = async (other: Member): Promise<void> => {
      if (member.state !== "in" || other.state !== "in") return;
      await getUserChannelStub(this.#env, other.user).deliverTyping(other.user, id, from);
    };
    this.#fanOut.runBestEffort(others.map((other) => () => sendTyping(other)));
  }

  /** Something may have to go: what names nothing any more, what nobody is left to read. */
  schedulePurge(log: ConversationLog): void {
    if (log.hasNoReaders) this.#setAlarm(Date.now() + 1);
    this.releaseFiles(log);
  }

  /** Files were named by messages that are gone. */
  releaseFiles(log: ConversationLog): void {
    this.#fileRelease.markDue();
    this.#ctx.waitUntil(this.#fileRelease.run(log));
  }

  /** Tells again what was not confirmed. Runs at least once, perhaps twice: notices are idempotent. */
  async alarm(): Promise<void> {
    const isOwn = Number.isFinite(this.#alarmAt);
    this.#alarmAt = Number.POSITIVE_INFINITY;
    try {
      this.#clock.ring();
      if (this.#isRecovering || !isOwn) {
        this.#isRecovering = false;
        const { present = [], leaving = [] } = this.#log?.members ?? {};
        this.#fanOut.recover([...present, ...leaving].map(({ number }) => number));
      }
      await this.#fanOut.retryDue();
      if (this.#log) await this.#purge(this.#log);
    } catch (error) {
      logError("the alarm of a conversation failed", error);
      this.#setAlarm(Date.now() + fanOutAlarmMs);
    } finally {
      const next = this.#fanOut.nextRetryAt();
      if (next !== undefined) this.#setAlarm(Math.max(next, Date.now() + 1));
      const timeoutAt = this.#clock.next();
      if (timeoutAt !== undefined) this.#setAlarm(Math.max(timeoutAt, Date.now() + 1));
      // Until their authors were told of them, marks need an alarm that outlives this instance.
      if (this.#heldReceipts) this.#setAlarm(Date.now() + fanOutAlarmMs);
    }
  }

  /** What was written in a conversation that is over goes, piece by piece, and so do the files that nothing names any more. */
  async #purge(log: ConversationLog): Promise<void> {
    if (log.hasNoReaders && !log.messages.isEmpty) {
      log.transaction(() => purgeMessages(log));
      this.#fileRelease.markDue();
      this.#setAlarm(Date.now() + 1);
    }
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

  async #send(number: number, delivered: DeliveryProgress, needsCount: boolean): Promise<boolean> {
    const log = this.#log;
    const member = log?.members.findByNumber(number);
    if (!log || !member || member.state === "quiet" || member.state === "out") return true;
    const notice = buildNotice(log, member, delivered, needsCount);
    const outcome = await getUserChannelStub(this.#env, member.user).notify(member.user, notice);
    if (notice.gone && notice.membershipVersion === member.membershipVersion)
      log.transaction(() => log.members.confirmLeft(member));
    return outcome === "written";
  }

  #setAlarm(at: number): void {
    if (this.#alarmAt <= at) return;
    this.#alarmAt = at;
    void this.#ctx.storage.setAlarm(at);
  }
}
