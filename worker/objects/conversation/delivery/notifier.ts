import { fanOutAlarmMs, fanOutRetryMaxMs, groupMarkHoldMs } from "#contract/limits.ts";
import { logError } from "#worker/lib/log.ts";
import type { ConversationLog } from "#worker/objects/conversation/log/conversation-log.ts";
import type { LeastMarks, Member } from "#worker/objects/conversation/log/member-table.ts";
import type { Retracted } from "#worker/objects/conversation/messages/deletions.ts";
import { authorsReached } from "#worker/objects/conversation/messages/group-receipts.ts";
import { userChannelOf } from "#worker/objects/stubs.ts";
import { noticeFor } from "./build-notice.ts";
import { FanOut, type Told } from "./fan-out.ts";
import { Releasing } from "./file-release.ts";
import { wipe } from "./purge.ts";

export const nothingTold: Told = { head: 0, revision: 0 };

/**
 * What there is to tell of a conversation and to whom, with the alarm that tells it should this instance not live long
 * enough. Whatever arms it is part of the commit it is called after: there is no `await` between the two.
 */
export class Telling {
  readonly #ctx: DurableObjectState;
  readonly #env: Env;
  #log: ConversationLog | undefined;
  #fanOut: FanOut;
  /** When the alarm goes off, as far as this instance has set it. */
  #alarmAt = Number.POSITIVE_INFINITY;
  /** An instance before this one had not heard from everybody: whom it told what is not known. */
  #isRecovering = false;
  readonly #releases: Releasing;
  /** What time alone makes of the conversation: done when it is due, and when that is next. */
  readonly #clock: { ring(): void; next(): number | undefined };
  /** How the marks of a group were when its authors were told last, while there is something to tell them. */
  #heldMarks: LeastMarks | undefined;

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
    this.#releases = new Releasing(env, () => this.#arm(Date.now() + fanOutRetryMaxMs));
  }

  /** The conversation has begun. */
  begin(log: ConversationLog): void {
    this.#log = log;
    this.#fanOut = this.#makeFanOut();
  }

  /** Whatever an instance before this one left: it had set an alarm, or its alarm was lost while time was to make something. */
  recover(alarmAt: number | null): void {
    const due = this.#clock.next();
    if (alarmAt === null && due === undefined) return;
    this.#isRecovering = true;
    this.#releases.add();
    if (alarmAt !== null) this.#alarmAt = alarmAt;
    if (due !== undefined) this.#arm(due);
  }

  /** Something was stored of which all hear before anything else, whoever asked for it. */
  hurry(members: readonly Member[]): void {
    this.#arm(Date.now() + fanOutAlarmMs);
    for (const { number } of members) this.#fanOut.hurry(number);
  }

  /** Time will make something of the conversation. */
  wake(at: number): void {
    this.#arm(at);
  }

  /** The member's channel has this much: it said so. */
  told({ number }: Member, told: Told): void {
    this.#fanOut.told(number, told);
  }

  /** The log has another epoch: nobody's channel has anything of it. */
  renewed(log: ConversationLog): void {
    for (const { number } of log.members.all) this.#fanOut.forget(number);
    this.to(log.members.present, true);
  }

  to(members: readonly Member[], isExact = false): void {
    if (members.length === 0) return;
    this.#arm(Date.now() + fanOutAlarmMs);
    for (const { number } of members) this.#fanOut.touch(number, isExact);
  }

  /** Messages of these authors were stored. Their own channels hear of it in the answers to their calls. */
  sent(log: ConversationLog, authors: ReadonlySet<number>): void {
    this.#arm(Date.now() + fanOutAlarmMs);
    this.to(log.members.present.filter(({ number, blocks }) => !blocks && !authors.has(number)));
    for (const author of authors) this.#fanOut.answer(author);
  }

  /** A message of this member's is deleted: those who had it hear of that, and the file it named is released. */
  retracted(log: ConversationLog, author: Member, { isNew, isWithheld }: Retracted): void {
    if (!isNew) return;
    this.to(isWithheld ? [author] : log.members.present, true);
    this.release(log);
  }

  /** Tells everybody of a change to the group: before the others whoever made it, and those who are no members any more. */
  changed(log: ConversationLog, actor: Member): void {
    const newest = log.group?.roster;
    const { present, leaving } = log.members;
    this.#arm(Date.now() + fanOutAlarmMs);
    // Touched a second time they would be told again, after all the others.
    const others = present.filter((member) => member !== actor);
    this.#fanOut.hurry(actor.number, actor.version === newest);
    for (const member of leaving) if (member !== actor) this.#fanOut.hurry(member.number);
    for (const { number, version } of others) this.#fanOut.touch(number, version === newest);
  }

  /** Resolves when the member's channel knows everything there is, or when that takes too long. */
  known({ number }: Member): Promise<void> {
    return this.#fanOut.settled(number);
  }

  /** Many members' marks are one change for those who wrote, and often none. */
  marked(before: LeastMarks): void {
    this.#arm(Date.now() + fanOutAlarmMs);
    if (this.#heldMarks) return;
    this.#heldMarks = before;
    setTimeout(() => {
      const held = this.#heldMarks;
      this.#heldMarks = undefined;
      if (this.#log && held) this.to(authorsReached(this.#log, held));
    }, groupMarkHoldMs);
  }

  /** Passed on to those who are members when their turn comes, and lost where it does not arrive. */
  typing({ id }: ConversationLog, member: Member, others: readonly Member[]): void {
    const from = { user: member.user, number: member.number };
    const tell = async (other: Member): Promise<void> => {
      if (member.state !== "in" || other.state !== "in") return;
      await userChannelOf(this.#env, other.user).typing(other.user, id, from);
    };
    this.#fanOut.aside(others.map((other) => () => tell(other)));
  }

  /** Something may have to go: what names nothing any more, what nobody is left to read. */
  tidy(log: ConversationLog): void {
    if (log.isOver) this.#arm(Date.now() + 1);
    this.release(log);
  }

  /** Files were named by messages that are gone. */
  release(log: ConversationLog): void {
    this.#releases.add();
    this.#ctx.waitUntil(this.#releases.run(log));
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
      await this.#fanOut.retry();
      if (this.#log) await this.#tidy(this.#log);
    } catch (error) {
      logError("the alarm of a conversation failed", error);
      this.#arm(Date.now() + fanOutAlarmMs);
    } finally {
      const next = this.#fanOut.nextRetryAt();
      if (next !== undefined) this.#arm(Math.max(next, Date.now() + 1));
      const due = this.#clock.next();
      if (due !== undefined) this.#arm(Math.max(due, Date.now() + 1));
      // Until their authors were told of them, marks need an alarm that outlives this instance.
      if (this.#heldMarks) this.#arm(Date.now() + fanOutAlarmMs);
    }
  }

  /** What was written in a conversation that is over goes, piece by piece, and so do the files that nothing names any more. */
  async #tidy(log: ConversationLog): Promise<void> {
    if (log.isOver && !log.messages.isEmpty) {
      log.transaction(() => wipe(log));
      this.#releases.add();
      this.#arm(Date.now() + 1);
    }
    await this.#releases.run(log);
  }

  #makeFanOut(): FanOut {
    const standOf = (number: number): Told => {
      const log = this.#log;
      const member = log?.members.at(number);
      return log && member ? { head: log.headOf(member), revision: log.revision } : nothingTold;
    };
    return new FanOut(
      {
        standOf,
        tell: (number, told, isExact) => this.#tell(number, told, isExact),
        onFailure: (retryAt) => this.#arm(retryAt),
      },
      new Map(this.#log?.members.all.map(({ number }) => [number, standOf(number)])),
    );
  }

  async #tell(number: number, told: Told, isExact: boolean): Promise<boolean> {
    const log = this.#log;
    const member = log?.members.at(number);
    if (!log || !member || member.state === "quiet" || member.state === "out") return true;
    const notice = noticeFor(log, member, told, isExact);
    const kept = await userChannelOf(this.#env, member.user).notify(member.user, notice);
    if (notice.gone && notice.turn === member.turn) log.transaction(() => log.members.confirmLeft(member));
    return kept === "written";
  }

  #arm(at: number): void {
    if (this.#alarmAt <= at) return;
    this.#alarmAt = at;
    void this.#ctx.storage.setAlarm(at);
  }
}
