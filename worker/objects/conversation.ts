import { DurableObject } from "cloudflare:workers";
import { type CommandOf, isRefusal, type PageResult, type Refusal, type SearchResult } from "../../contract/commands";
import type { Marks } from "../../contract/conversations";
import type { ConversationId, Uuid } from "../../contract/ids";
import { fanOutAlarmMs } from "../../contract/limits";
import { type Accepted, accept, type Sending, SendLimits } from "./accept";
import { ConversationLog, type Member } from "./conversation-log";
import { readNews, readPage, searchLog } from "./conversation-pages";
import { FanOut } from "./fan-out";
import { GroupCommit } from "./group-commit";
import type { ConversationRpc, Known, Notice, Standing } from "./rpc";
import { userChannelOf } from "./stubs";

const notFound: Refusal = { error: "conversation_not_found" };

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

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env);
    this.#log = ConversationLog.find(ctx.storage);
    this.#fanOut = this.#makeFanOut();
    void ctx.blockConcurrencyWhile(async () => {
      this.#isRecovering = (await ctx.storage.getAlarm()) !== null;
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
    command: CommandOf<"send">,
    known: Known,
  ): ReturnType<ConversationRpc["send"]> {
    const log = this.#log;
    const member = log?.memberOf(user);
    if (!log || !member) return notFound;
    const has = known.epoch === log.epoch ? known.head : 0;
    this.#fanOut.told(member.number, has);
    const accepted = await this.#commits.add({ member, messages: command.messages });
    if (isRefusal(accepted)) return accepted;
    const notice = this.#noticeFor(log, member, has, accepted.isAgain);
    return { epoch: log.epoch, sent: accepted.sent, notice };
  }

  async mark(_id: ConversationId, user: Uuid, marks: Marks): Promise<Standing | Refusal> {
    const log = this.#log;
    const member = log?.memberOf(user);
    if (!log || !member) return notFound;
    const { moved, read } = log.transaction(() => log.mark(member, marks));
    if (moved && log.isOpen) this.#tell(log.members.filter((other) => other !== member));
    return this.#standingOf(log, member, read || !moved);
  }

  async hide(_id: ConversationId, user: Uuid): Promise<Standing | Refusal> {
    const log = this.#log;
    const member = log?.memberOf(user);
    if (!log || !member) return notFound;
    log.transaction(() => log.hide(member));
    return this.#standingOf(log, member, true);
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
    if (!this.#log) {
      this.#log = ConversationLog.create(this.ctx.storage, id);
      this.#fanOut = this.#makeFanOut();
    }
    return this.#log;
  }

  #makeFanOut(): FanOut {
    return new FanOut(
      {
        head: () => this.#log?.head ?? 0,
        tell: async (number, told, isExact) => {
          const log = this.#log;
          const member = log?.members.find((one) => one.number === number);
          if (!log || !member) return;
          const notice = this.#noticeFor(log, member, told, isExact);
          await userChannelOf(this.env, member.user).notify(member.user, notice);
        },
        onFailure: (retryAt) => this.#arm(retryAt),
      },
      this.#log?.head ?? 0,
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
    // An author's own channel hears of it in the answer to its call, unless others wrote in the same commit.
    const [only] = authors;
    if (authors.size > 0) this.#tell(log.members.filter(({ number }) => authors.size > 1 || number !== only));
    return results;
  }

  #tell(members: Member[]): void {
    this.#arm(Date.now() + fanOutAlarmMs);
    for (const { number } of members) this.#fanOut.touch(number);
  }

  /** Part of the commit it is called with: there is no `await` between the two. */
  #arm(at: number): void {
    if (this.#alarmAt <= at) return;
    this.#alarmAt = at;
    void this.ctx.storage.setAlarm(at);
  }

  #noticeFor(log: ConversationLog, member: Member, told: number, isExact: boolean): Notice {
    const news = readNews(log, member, told);
    return {
      conversation: log.id,
      epoch: log.epoch,
      head: log.head,
      ...log.last,
      open: log.isOpen,
      turn: log.turn,
      hidden: member.hidden,
      mine: { delivered: member.delivered, read: member.read },
      others: log.othersOf(member),
      messages: news ?? [],
      ...(isExact || !news ? { unread: log.unreadOf(member) } : {}),
    };
  }

  #standingOf(log: ConversationLog, member: Member, isCounted: boolean): Standing {
    const { delivered, read, hidden } = member;
    const standing = { epoch: log.epoch, head: log.head, mine: { delivered, read }, hidden };
    return isCounted ? { ...standing, unread: log.unreadOf(member) } : standing;
  }
}
