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
import { type ConversationId, privateMembers, type Uuid } from "../../contract/ids";
import { fanOutAlarmMs, fanOutRetryMaxMs } from "../../contract/limits";
import { type Accepted, accept, type Sending, SendLimits } from "./accept";
import { findOriginal, isNamed } from "./attachments";
import { setBlock } from "./blocking";
import { ConversationLog } from "./conversation-log";
import { readPage, searchLog } from "./conversation-pages";
import { FanOut, type Told } from "./fan-out";
import { GroupCommit } from "./group-commit";
import type { Member } from "./members";
import { noticeFor } from "./notices";
import { releaseFiles } from "./releases";
import { readRevised, retract } from "./revisions";
import type { Checked, ConversationRpc, Known, Standing } from "./rpc";
import { hide, mark, standingOf } from "./standing";
import { userChannelOf } from "./stubs";

const notFound: Refusal = { error: "conversation_not_found" };
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
  /** There may be files that deleted messages named and nobody was told of. */
  #hasReleases = false;
  #releasing: Promise<void> | undefined;

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env);
    this.#log = ConversationLog.find(ctx.storage);
    this.#fanOut = this.#makeFanOut();
    void ctx.blockConcurrencyWhile(async () => {
      this.#isRecovering = (await ctx.storage.getAlarm()) !== null;
      this.#hasReleases = this.#isRecovering;
    });
  }

  async open(id: ConversationId, connection: Uuid): Promise<void> {
    const log = this.#ensureLog(id);
    if (log.transaction(() => log.open(connection))) this.#tell(log.members);
  }

  async close(id: ConversationId, connection: Uuid): Promise<void> {
    const log = this.#ensureLog(id);
    if (log.transaction(() => log.close(connection))) this.#tell(log.members);
  }

  async send(
    _id: ConversationId,
    user: Uuid,
    messages: readonly Checked[],
    known: Known,
  ): ReturnType<ConversationRpc["send"]> {
    const log = this.#log;
    const member = log?.memberOf(user);
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
    const member = log?.memberOf(user);
    if (!log || !member) return notFound;
    const { moved, read } = log.transaction(() => mark(log, member, marks));
    if (moved && log.isOpen && !member.blocks) this.#tell(log.members.filter((other) => other !== member));
    return standingOf(log, member, read || !moved);
  }

  async hide(_id: ConversationId, user: Uuid, upTo: number): Promise<Standing | Refusal> {
    const log = this.#log;
    const member = log?.memberOf(user);
    if (!log || !member) return notFound;
    log.transaction(() => hide(log, member, upTo));
    return standingOf(log, member, true);
  }

  async retract(_id: ConversationId, user: Uuid, seq: number): ReturnType<ConversationRpc["retract"]> {
    const log = this.#log;
    const member = log?.memberOf(user);
    if (!log || !member) return notFound;
    const done = log.transaction(() => retract(log, member, seq));
    if (isRefusal(done)) return done;
    if (done.isNew) {
      this.#tell(done.isWithheld ? [member] : log.members, true);
      this.#hasReleases = true;
      this.ctx.waitUntil(this.#releaseFiles(log));
    }
    return { revision: log.revision };
  }

  async block(id: ConversationId, user: Uuid, isBlocked: boolean): Promise<void> {
    if (!privateMembers(id)?.includes(user)) throw new Error("only a member of a private conversation blocks there");
    if (!this.#log && !isBlocked) return;
    const log = this.#ensureLog(id);
    const before = log.revision;
    const hasChanged = log.transaction(() => {
      const member = log.memberOf(user);
      return member !== undefined && setBlock(log, member, isBlocked);
    });
    // Of a block nobody is told. What ends with it, an author hears of: what was withheld, marks that stood still.
    if (!hasChanged || isBlocked || (log.revision === before && log.head === 0)) return;
    this.#tell(
      log.members.filter((member) => member.user !== user),
      true,
    );
  }

  async revised(_id: ConversationId, user: Uuid, query: CommandOf<"revised">): Promise<RevisedResult | Refusal> {
    const member = this.#log?.memberOf(user);
    return this.#log && member ? readRevised(this.#log, member, query) : notFound;
  }

  async names(_id: ConversationId, user: Uuid, file: Uuid): Promise<boolean> {
    const member = this.#log?.memberOf(user);
    return this.#log !== undefined && member !== undefined && isNamed(this.#log, member, file);
  }

  async original(_id: ConversationId, user: Uuid, seq: number): ReturnType<ConversationRpc["original"]> {
    const member = this.#log?.memberOf(user);
    if (!this.#log || !member) return notFound;
    return findOriginal(this.#log, member, seq) ?? { error: "message_not_found" };
  }

  async page(_id: ConversationId, user: Uuid, query: CommandOf<"page">): Promise<PageResult | Refusal> {
    const member = this.#log?.memberOf(user);
    return this.#log && member ? readPage(this.#log, member, query) : notFound;
  }

  async search(_id: ConversationId, user: Uuid, query: CommandOf<"search">): Promise<SearchResult | Refusal> {
    const member = this.#log?.memberOf(user);
    return this.#log && member ? searchLog(this.#log, member, query) : notFound;
  }

  /** Tells again what was not confirmed. Runs at least once, perhaps twice: notices are idempotent. */
  override async alarm(): Promise<void> {
    const isOwn = Number.isFinite(this.#alarmAt);
    this.#alarmAt = Number.POSITIVE_INFINITY;
    try {
      if (this.#isRecovering || !isOwn) {
        this.#isRecovering = false;
        this.#fanOut.recover(this.#log?.members.map(({ number }) => number) ?? []);
      }
      await this.#fanOut.retry();
      if (this.#log) await this.#releaseFiles(this.#log);
    } catch (error) {
      console.error("the alarm of a conversation failed", error);
      this.#arm(Date.now() + fanOutAlarmMs);
    } finally {
      const next = this.#fanOut.nextRetryAt();
      if (next !== undefined) this.#arm(Math.max(next, Date.now() + 1));
    }
  }

  /** Files that deleted messages named. Where that fails the alarm does it again. */
  #releaseFiles(log: ConversationLog): Promise<void> {
    this.#releasing ??= this.#release(log).finally(() => {
      this.#releasing = undefined;
    });
    return this.#releasing;
  }

  async #release(log: ConversationLog): Promise<void> {
    try {
      while (this.#hasReleases) {
        this.#hasReleases = false;
        await releaseFiles(this.env, log);
      }
    } catch (error) {
      this.#hasReleases = true;
      console.error("a file could not be released", error);
      this.#arm(Date.now() + fanOutRetryMaxMs);
    }
  }

  #ensureLog(id: ConversationId): ConversationLog {
    if (this.#log && this.#log.id !== id) throw new Error("a conversation was called by another's id");
    if (!this.#log) {
      this.#log = ConversationLog.create(this.ctx.storage, id);
      this.#fanOut = this.#makeFanOut();
    }
    return this.#log;
  }

  #makeFanOut(): FanOut {
    const standOf = (number: number): Told => {
      const log = this.#log;
      const member = log?.members.find((one) => one.number === number);
      return log && member ? { head: log.headOf(member), revision: log.revision } : nothingTold;
    };
    return new FanOut(
      {
        standOf,
        tell: async (number, told, isExact) => {
          const log = this.#log;
          const member = log?.members.find((one) => one.number === number);
          if (!log || !member) return;
          const notice = noticeFor(log, member, told, isExact);
          await userChannelOf(this.env, member.user).notify(member.user, notice);
        },
        onFailure: (retryAt) => this.#arm(retryAt),
      },
      new Map(this.#log?.members.map(({ number }) => [number, standOf(number)])),
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
      this.#tell(log.members.filter(({ number, blocks }) => !blocks && !authors.has(number)));
      for (const author of authors) this.#fanOut.answer(author);
    }
    return results;
  }

  #tell(members: Member[], isExact = false): void {
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
