import { DurableObject } from "cloudflare:workers";
import type { CallDeed } from "../../contract/calls";
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
import { groupTypingMax } from "../../contract/limits";
import { logError } from "../lib/log";
import { type Accepted, accept, type Sending, SendLimits } from "./accept";
import { findOriginal, isNamed } from "./attachments";
import { setBlock } from "./blocking";
import { Calling } from "./calling";
import { ConversationLog } from "./conversation-log";
import { readPage, searchLog } from "./conversation-pages";
import { depart } from "./departing";
import { GroupCommit } from "./group-commit";
import { describe, isGroup, isOfGroup, readSeats, standOfGroup } from "./group-view";
import { carryOut, createGroup, isDone } from "./groups";
import { noticeFor } from "./notices";
import { readRevised, retract } from "./revisions";
import type {
  CallStanding,
  Checked,
  ConversationRpc,
  Departed,
  GroupDeed,
  GroupDone,
  Known,
  Newcomer,
  Seats,
  Standing,
} from "./rpc";
import { hide, mark, receiptsOf, standingOf } from "./standing";
import { nothingTold, Telling } from "./telling";
import { unsign } from "./unsigning";

const notFound: Refusal = { error: "conversation_not_found" };
const noGroup: Refusal = { error: "group_not_found" };

/**
 * One conversation: the sequencer and only writer of its messages, and the judge of who may. Every change is
 * committed in one synchronous go together with the alarm that would tell the members of it, should this
 * instance not live long enough to do so.
 */
export class Conversation extends DurableObject<Env> implements ConversationRpc {
  #log: ConversationLog | undefined;
  readonly #telling: Telling;
  #calling: Calling | undefined;
  readonly #limits = new SendLimits();
  readonly #commits = new GroupCommit<Sending, Accepted | Refusal>((batch) => this.#commit(batch));

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env);
    this.#log = ConversationLog.find(ctx.storage);
    this.#telling = new Telling(ctx, env, this.#log, {
      ring: () => this.#calling?.expire(),
      next: () => this.#calling?.dueAt,
    });
    this.#calling = this.#log && new Calling(this.#log, this.#telling);
    void ctx.blockConcurrencyWhile(async () => this.#telling.recover(await ctx.storage.getAlarm()));
  }

  async open(id: ConversationId, connection: Uuid): Promise<void> {
    const log = this.#ensureLog(id);
    if (log.transaction(() => log.open(connection))) this.#telling.to(log.members.present);
  }

  async close(id: ConversationId, connection: Uuid): Promise<void> {
    const log = this.#ensureLog(id);
    const hasClosed = this.#changeAll(log, () => {
      if (!log.close(connection)) return false;
      this.#calling?.cut();
      return true;
    });
    if (hasClosed) this.#telling.to(log.members.present);
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
    this.#telling.told(member, has);
    const accepted = await this.#commits.add({ member, messages });
    if (isRefusal(accepted)) return accepted;
    const { isNew: _, isAgain, ...outcome } = accepted;
    return { epoch: log.epoch, ...outcome, notice: noticeFor(log, member, has, isAgain) };
  }

  async mark(_id: ConversationId, user: Uuid, marks: Marks, isShown: boolean): Promise<Standing | Refusal> {
    const log = this.#log;
    const member = log?.members.of(user);
    if (!log || !member) return notFound;
    const { least } = log.members;
    const { moved, read, seen } = log.transaction(() => mark(log, member, marks, isShown));
    if (seen && log.group) this.#telling.marked(least);
    else if (seen && log.isOpen && !member.blocks)
      this.#telling.to(log.members.present.filter((other) => other !== member));
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
      this.#telling.to(done.isWithheld ? [member] : log.members.present, true);
      this.#telling.release(log);
    }
    return { revision: log.revision };
  }

  async block(id: ConversationId, user: Uuid, isBlocked: boolean): Promise<void> {
    if (!privateMembers(id)?.includes(user)) throw new Error("only a member of a private conversation blocks there");
    if (!this.#log && !isBlocked) return;
    const log = this.#ensureLog(id);
    const before = log.revision;
    const hasChanged = this.#changeAll(log, () => {
      const member = log.members.of(user);
      // The line of a call that ends by it is still one that both see.
      if (isBlocked && member && !member.blocks) this.#calling?.cut(member);
      return member !== undefined && setBlock(log, member, isBlocked);
    });
    // Of a block nobody is told. What ends with it, an author hears of: what was withheld, marks that stood still.
    if (!hasChanged || isBlocked || (log.revision === before && log.head === 0)) return;
    this.#telling.to(
      log.members.present.filter((member) => member.user !== user),
      true,
    );
  }

  async depart(_id: ConversationId, user: Uuid): Promise<Departed> {
    const log = this.#log;
    const member = log?.members.known(user);
    if (!log || !member) return { replaced: null };
    const { hasChanged, readers, ...departed } = this.#changeAll(log, () => {
      if (member.state === "in") this.#calling?.cut(member);
      return depart(log, member, Date.now());
    });
    if (hasChanged && log.group) this.#telling.changed(log, member);
    else if (hasChanged) this.#telling.to(log.members.present, true);
    else this.#telling.to(readers);
    if (hasChanged) this.#telling.tidy(log);
    return departed;
  }

  async unsign(_id: ConversationId, author: Uuid): Promise<void> {
    const log = this.#log;
    if (log) this.#telling.to(log.transaction(() => unsign(log, author)));
  }

  async call(_id: ConversationId, user: Uuid, deed: CallDeed, session?: Uuid): Promise<CallStanding | Refusal> {
    const member = this.#log?.members.of(user);
    return member && this.#calling ? this.#calling.do(member, deed, session) : notFound;
  }

  async refuse(_id: ConversationId, user: Uuid, call: Uuid): Promise<CallStanding | Refusal> {
    const member = this.#log?.members.of(user);
    return member && this.#calling ? this.#calling.refuse(member, call) : notFound;
  }

  async signOut(_id: ConversationId, user: Uuid, ended: Uuid[] | "all"): Promise<CallStanding | Refusal> {
    const member = this.#log?.members.of(user);
    return member && this.#calling ? this.#calling.signOut(member, ended) : notFound;
  }

  async standing(_id: ConversationId, user: Uuid, call: Uuid): Promise<CallStanding | Refusal> {
    const member = this.#log?.members.of(user);
    return member && this.#calling ? this.#calling.find(member, call) : notFound;
  }

  async beat(_id: ConversationId, user: Uuid, call: Uuid, device?: Uuid): Promise<boolean> {
    const member = this.#log?.members.of(user);
    return member !== undefined && (this.#calling?.beat(member, call, device) ?? false);
  }

  async create(id: ConversationId, owner: Uuid, name: string, people: Newcomer[]): Promise<GroupDone | Refusal> {
    if (privateMembers(id)) throw new Error("a private conversation is no group");
    const isNew = !this.#log;
    if (!this.#log) {
      const log = createGroup(this.ctx.storage, id, { owner, name, people }, Date.now());
      if (isRefusal(log)) return log;
      this.#use(log);
    }
    const log = this.#log;
    const member = log?.members.of(owner);
    if (!isGroup(log) || member?.number !== 0) return { error: "group_exists" };
    if (isNew) this.#telling.changed(log, member);
    else this.#telling.to([member], true);
    await this.#telling.known(member);
    return standOfGroup(log);
  }

  async change(_id: ConversationId, user: Uuid, deed: GroupDeed): Promise<GroupDone | Refusal> {
    const log = this.#log;
    const member = log?.members.known(user);
    if (!isOfGroup(log) || !member) return noGroup;
    if (isDone(log, member, deed)) return standOfGroup(log);
    if (!isGroup(log) || member.state !== "in") return noGroup;
    const { roster } = log.group;
    const unaware = log.members.seated.filter(({ state }) => state !== "in");
    const done = log.transaction(() => carryOut(log, member, deed, Date.now()));
    if (isRefusal(done)) return done;
    const isChanged = done.roster !== roster;
    if (isChanged) this.#telling.changed(log, member);
    this.#telling.to(
      unaware.filter(({ state }) => state === "in"),
      true,
    );
    if (isChanged) await this.#telling.known(member);
    return done;
  }

  async group(_id: ConversationId, user: Uuid): Promise<Group | Refusal> {
    const member = this.#log?.members.of(user);
    return isGroup(this.#log) && member ? describe(this.#log, member) : noGroup;
  }

  async seats(_id: ConversationId, user: Uuid, query: Parameters<typeof readSeats>[2]): Promise<Seats | Refusal> {
    const reader = this.#log?.members.of(user);
    return isGroup(this.#log) && reader ? readSeats(this.#log, reader, query) : noGroup;
  }

  async receipts(_id: ConversationId, user: Uuid, seq: number, seesRead: boolean): Promise<Receipts | Refusal> {
    const member = this.#log?.members.of(user);
    return this.#log && member ? receiptsOf(this.#log, member, seq, seesRead) : notFound;
  }

  async typing(_id: ConversationId, user: Uuid): Promise<void> {
    const log = this.#log;
    const member = log?.members.of(user);
    if (!isGroup(log) || !member || log.members.seated.length > groupTypingMax) return;
    const others = log.members.present.filter((other) => other !== member);
    this.#telling.typing(log, member, others);
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

  override alarm(): Promise<void> {
    return this.#telling.alarm();
  }

  #ensureLog(id: ConversationId): ConversationLog {
    if (this.#log && this.#log.id !== id) throw new Error("a conversation was called by another's id");
    return this.#log ?? this.#use(ConversationLog.create(this.ctx.storage, id));
  }

  #use(log: ConversationLog): ConversationLog {
    this.#log = log;
    this.#telling.begin(log);
    this.#calling = new Calling(log, this.#telling);
    return log;
  }

  /** A change of who may speak to whom, and what it makes of their call. */
  #changeAll<T>(log: ConversationLog, change: () => T): T {
    return this.#calling ? this.#calling.change(change) : log.transaction(change);
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
      logError("a commit failed", error);
      if (batch.length === 1) return [{ error: "unavailable" }];
      return batch.flatMap((sending) => this.#commit([sending]));
    }
    const authors = new Set<number>();
    for (const [index, result] of results.entries()) {
      const author = batch[index]?.member.number;
      if (author !== undefined && !isRefusal(result) && result.isNew) authors.add(author);
    }
    if (authors.size > 0) this.#telling.sent(log, authors);
    return results;
  }
}
