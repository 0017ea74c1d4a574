import { DurableObject } from "cloudflare:workers";
import {
  type CommandOf,
  isRefusal,
  type PageResult,
  type Refusal,
  type RevisedResult,
  type SearchResult,
} from "../../contract/commands";
import type { Marks } from "../../contract/conversations";
import type { Group, Receipts } from "../../contract/groups";
import { type ConversationId, privateMembers, type Uuid } from "../../contract/ids";
import { fanOutAlarmMs, fanOutRetryMaxMs, groupMarkHoldMs, groupTypingMax } from "../../contract/limits";
import { type Accepted, accept, type Sending, SendLimits } from "./accept";
import { findOriginal, isNamed } from "./attachments";
import { setBlock } from "./blocking";
import { ConversationLog } from "./conversation-log";
import { readPage, searchLog } from "./conversation-pages";
import { FanOut, type Told } from "./fan-out";
import { GroupCommit } from "./group-commit";
import { authorsReached } from "./group-marks";
import { carryOut, createGroup, describe, isGroup, readSeats, standOfGroup, wipe } from "./groups";
import type { LeastMarks, Member } from "./members";
import { noticeFor } from "./notices";
import { Releasing } from "./releasing";
import { readRevised, retract } from "./revisions";
import type { Checked, ConversationRpc, GroupDeed, GroupDone, Known, Newcomer, Seats, Standing } from "./rpc";
import { hide, mark, receiptsOf, standingOf } from "./standing";
import { userChannelOf } from "./stubs";

const notFound: Refusal = { error: "conversation_not_found" };
const noGroup: Refusal = { error: "group_not_found" };
const nothingTold: Told = { head: 0, revision: 0 };

/**
 * One conversation: the sequencer and only writer of its messages, and the judge of who may. Every change is
 * committed in one synchronous go together with the alarm that would tell the members of it, should this
 * instance not live long enough to do so.
 */
export class Conversation extends DurableObject<Env> implements ConversationRpc {
  #log: ConversationLog | undefined;
  #fanOut: FanOut;
  readonly #limits = new SendLimits();
  readonly #commits = new GroupCommit<Sending, Accepted | Refusal>((batch) => this.#commit(batch));
  /** When the alarm goes off, as far as this instance has set it. */
  #alarmAt = Number.POSITIVE_INFINITY;
  /** An instance before this one had not heard from everybody: whom it told what is not known. */
  #isRecovering = false;
  readonly #releases = new Releasing(this.env, () => this.#arm(Date.now() + fanOutRetryMaxMs));
  /** How the marks of a group were when its authors were told last, while there is something to tell them. */
  #heldMarks: LeastMarks | undefined;

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env);
    this.#log = ConversationLog.find(ctx.storage);
    this.#fanOut = this.#makeFanOut();
    void ctx.blockConcurrencyWhile(async () => {
      this.#isRecovering = (await ctx.storage.getAlarm()) !== null;
      if (this.#isRecovering) this.#releases.add();
    });
  }

  async open(id: ConversationId, connection: Uuid): Promise<void> {
    const log = this.#ensureLog(id);
    if (log.transaction(() => log.open(connection))) this.#tell(log.members.present);
  }

  async close(id: ConversationId, connection: Uuid): Promise<void> {
    const log = this.#ensureLog(id);
    if (log.transaction(() => log.close(connection))) this.#tell(log.members.present);
  }

  async send(
    _id: ConversationId,
    user: Uuid,
    messages: readonly Checked[],
    known: Known,
  ): ReturnType<ConversationRpc["send"]> {
    const log = this.#log;
    // Whoever has left still learns what became of what they had sent.
    const member = log?.members.known(user);
    if (!log || !member) return notFound;
    const has = known.epoch === log.epoch ? known : nothingTold;
    this.#fanOut.told(member.number, has);
    const accepted = await this.#commits.add({ member, messages });
    if (isRefusal(accepted)) return accepted;
    const { isNew: _, isAgain, ...outcome } = accepted;
    return { epoch: log.epoch, ...outcome, notice: noticeFor(log, member, has, isAgain) };
  }

  async mark(_id: ConversationId, user: Uuid, marks: Marks): Promise<Standing | Refusal> {
    const log = this.#log;
    const member = log?.members.of(user);
    if (!log || !member) return notFound;
    const { least } = log.members;
    const { moved, read } = log.transaction(() => mark(log, member, marks));
    if (moved && log.group) this.#holdMarks(least);
    else if (moved && log.isOpen && !member.blocks) this.#tell(log.members.present.filter((other) => other !== member));
    return standingOf(log, member, read || !moved);
  }

  async hide(_id: ConversationId, user: Uuid, upTo: number): Promise<Standing | Refusal> {
    const log = this.#log;
    const member = log?.members.of(user);
    if (!log || !member) return notFound;
    log.transaction(() => hide(log, member, upTo));
    return standingOf(log, member, true);
  }

  async retract(_id: ConversationId, user: Uuid, seq: number): ReturnType<ConversationRpc["retract"]> {
    const log = this.#log;
    const member = log?.members.of(user);
    if (!log || !member) return notFound;
    const done = log.transaction(() => retract(log, member, seq));
    if (isRefusal(done)) return done;
    if (done.isNew) {
      this.#tell(done.isWithheld ? [member] : log.members.present, true);
      this.#releases.add();
      this.ctx.waitUntil(this.#releases.run(log));
    }
    return { revision: log.revision };
  }

  async block(id: ConversationId, user: Uuid, isBlocked: boolean): Promise<void> {
    if (!privateMembers(id)?.includes(user)) throw new Error("only a member of a private conversation blocks there");
    if (!this.#log && !isBlocked) return;
    const log = this.#ensureLog(id);
    const before = log.revision;
    const hasChanged = log.transaction(() => {
      const member = log.members.of(user);
      return member !== undefined && setBlock(log, member, isBlocked);
    });
    // Of a block nobody is told. What ends with it, an author hears of: what was withheld, marks that stood still.
    if (!hasChanged || isBlocked || (log.revision === before && log.head === 0)) return;
    this.#tell(
      log.members.present.filter((member) => member.user !== user),
      true,
    );
  }

  async create(id: ConversationId, owner: Uuid, name: string, people: Newcomer[]): Promise<GroupDone | Refusal> {
    if (privateMembers(id)) throw new Error("a private conversation is no group");
    if (!this.#log) {
      const log = createGroup(this.ctx.storage, id, { owner, name, people }, Date.now());
      if (isRefusal(log)) return log;
      this.#use(log);
      await this.#tellAll(log, owner);
    }
    const log = this.#log;
    return isGroup(log) && log.members.of(owner)?.number === 0 ? standOfGroup(log) : { error: "group_exists" };
  }

  async change(_id: ConversationId, user: Uuid, deed: GroupDeed): Promise<GroupDone | Refusal> {
    const log = this.#log;
    const member = log?.members.of(user);
    if (!isGroup(log) || !member) return noGroup;
    const { roster } = log.group;
    const done = log.transaction(() => carryOut(log, member, deed, Date.now()));
    if (isRefusal(done) || done.roster === roster) return done;
    await this.#tellAll(log, user);
    return done;
  }

  async group(_id: ConversationId, user: Uuid): Promise<Group | Refusal> {
    const member = this.#log?.members.of(user);
    return isGroup(this.#log) && member ? describe(this.#log, member) : noGroup;
  }

  async seats(_id: ConversationId, user: Uuid, query: Parameters<typeof readSeats>[1]): Promise<Seats | Refusal> {
    return isGroup(this.#log) && this.#log.members.of(user) ? readSeats(this.#log, query) : noGroup;
  }

  async receipts(_id: ConversationId, user: Uuid, seq: number): Promise<Receipts | Refusal> {
    const member = this.#log?.members.of(user);
    return this.#log && member ? receiptsOf(this.#log, member, seq) : notFound;
  }

  async typing(id: ConversationId, user: Uuid): Promise<void> {
    const log = this.#log;
    const member = log?.members.of(user);
    if (!isGroup(log) || !member || log.members.seated.length > groupTypingMax) return;
    const from = { user, number: member.number };
    const others = log.members.present.filter((other) => other !== member);
    this.#fanOut.aside(others.map((other) => () => userChannelOf(this.env, other.user).typing(other.user, id, from)));
  }

  async revised(_id: ConversationId, user: Uuid, query: CommandOf<"revised">): Promise<RevisedResult | Refusal> {
    const member = this.#log?.members.of(user);
    return this.#log && member ? readRevised(this.#log, member, query) : notFound;
  }

  async names(_id: ConversationId, user: Uuid, file: Uuid): Promise<boolean> {
    const member = this.#log?.members.of(user);
    return this.#log !== undefined && member !== undefined && isNamed(this.#log, member, file);
  }

  async original(_id: ConversationId, user: Uuid, seq: number): ReturnType<ConversationRpc["original"]> {
    const member = this.#log?.members.of(user);
    if (!this.#log || !member) return notFound;
    return findOriginal(this.#log, member, seq) ?? { error: "message_not_found" };
  }

  async page(_id: ConversationId, user: Uuid, query: CommandOf<"page">): Promise<PageResult | Refusal> {
    const member = this.#log?.members.of(user);
    return this.#log && member ? readPage(this.#log, member, query) : notFound;
  }

  async search(_id: ConversationId, user: Uuid, query: CommandOf<"search">): Promise<SearchResult | Refusal> {
    const member = this.#log?.members.of(user);
    return this.#log && member ? searchLog(this.#log, member, query) : notFound;
  }

  /** Tells again what was not confirmed. Runs at least once, perhaps twice: notices are idempotent. */
  override async alarm(): Promise<void> {
    const isOwn = Number.isFinite(this.#alarmAt);
    this.#alarmAt = Number.POSITIVE_INFINITY;
    try {
      if (this.#isRecovering || !isOwn) {
        this.#isRecovering = false;
        const { present = [], leaving = [] } = this.#log?.members ?? {};
        this.#fanOut.recover([...present, ...leaving].map(({ number }) => number));
      }
      await this.#fanOut.retry();
      if (this.#log) await this.#tidy(this.#log);
    } catch (error) {
      console.error("the alarm of a conversation failed", error);
      this.#arm(Date.now() + fanOutAlarmMs);
    } finally {
      const next = this.#fanOut.nextRetryAt();
      if (next !== undefined) this.#arm(Math.max(next, Date.now() + 1));
    }
  }

  #ensureLog(id: ConversationId): ConversationLog {
    if (this.#log && this.#log.id !== id) throw new Error("a conversation was called by another's id");
    return this.#log ?? this.#use(ConversationLog.create(this.ctx.storage, id));
  }

  #use(log: ConversationLog): ConversationLog {
    this.#log = log;
    this.#fanOut = this.#makeFanOut();
    return log;
  }

  /** What was written in a group that ended goes, piece by piece, and so do the files that nothing names any more. */
  async #tidy(log: ConversationLog): Promise<void> {
    if (log.group?.ended && log.hasMessages) {
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
        tell: async (number, told, isExact) => {
          const log = this.#log;
          const member = log?.members.at(number);
          if (!log || !member || member.state === "quiet" || member.state === "out") return;
          const notice = noticeFor(log, member, told, isExact);
          await userChannelOf(this.env, member.user).notify(member.user, notice);
          if (notice.gone && notice.turn === member.turn)
            log.transaction(() => log.members.change(member, { state: "out" }));
        },
        onFailure: (retryAt) => this.#arm(retryAt),
      },
      new Map(this.#log?.members.all.map(({ number }) => [number, standOf(number)])),
    );
  }

  /** One commit for all that came together; if it fails as a whole, each on its own, so that one spoils none. */
  #commit(batch: Sending[]): (Accepted | Refusal)[] {
    const log = this.#log;
    if (!log) return batch.map(() => notFound);
    const now = Date.now();
    const acceptOne = (sending: Sending) => accept(log, sending, this.#limits.of(sending.member), now);
    let results: (Accepted | Refusal)[];
    try {
      results = log.transaction(() => batch.map(acceptOne));
    } catch (error) {
      console.error("a commit failed", error);
      if (batch.length === 1) return [{ error: "unavailable" }];
      return batch.flatMap((sending) => this.#commit([sending]));
    }
    const authors = new Set<number>();
    for (const [index, result] of results.entries()) {
      const author = batch[index]?.member.number;
      if (author !== undefined && !isRefusal(result) && result.isNew) authors.add(author);
    }
    // An author's own channel hears of it in the answer to its call.
    if (authors.size > 0) {
      this.#arm(Date.now() + fanOutAlarmMs);
      this.#tell(log.members.present.filter(({ number, blocks }) => !blocks && !authors.has(number)));
      for (const author of authors) this.#fanOut.answer(author);
    }
    return results;
  }

  /** Tells everybody of a change to the group, whoever made it first and before that call is answered. */
  async #tellAll(log: ConversationLog, by: Uuid): Promise<void> {
    const actor = log.members.known(by);
    const newest = log.group?.roster;
    const { present, leaving } = log.members;
    this.#arm(Date.now() + fanOutAlarmMs);
    if (actor) this.#fanOut.touch(actor.number);
    for (const { number } of leaving) this.#fanOut.touch(number);
    for (const { number, version } of present) this.#fanOut.touch(number, version === newest);
    if (actor) await this.#fanOut.settled(actor.number);
  }

  /** Many members' marks are one change for those who wrote, and often none. */
  #holdMarks(before: LeastMarks): void {
    this.#arm(Date.now() + fanOutAlarmMs);
    if (this.#heldMarks) return;
    this.#heldMarks = before;
    setTimeout(() => {
      const held = this.#heldMarks;
      this.#heldMarks = undefined;
      if (this.#log && held) this.#tell(authorsReached(this.#log, held));
    }, groupMarkHoldMs);
  }

  #tell(members: readonly Member[], isExact = false): void {
    if (members.length === 0) return;
    this.#arm(Date.now() + fanOutAlarmMs);
    for (const { number } of members) this.#fanOut.touch(number, isExact);
  }

  /** Part of the commit it is called with: there is no `await` between the two. */
  #arm(at: number): void {
    if (this.#alarmAt <= at) return;
    this.#alarmAt = at;
    void this.ctx.storage.setAlarm(at);
  }
}
