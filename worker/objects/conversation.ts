import { DurableObject } from "cloudflare:workers";
import type { CallDeed } from "#contract/calls/call.ts";
import type { Marks } from "#contract/conversations.ts";
import type { Group, Receipts } from "#contract/groups.ts";
import { type ConversationId, privateMembers, type Uuid } from "#contract/ids.ts";
import {
  type CommandOf,
  isRefusal,
  type PageResult,
  type Refusal,
  type RevisedResult,
} from "#contract/wire/commands.ts";
import { limitFactorOf } from "#worker/lib/limits/local-limits.ts";
import { logWarning } from "#worker/lib/log.ts";
import { Calling } from "./conversation/call-controller.ts";
import { Telling } from "./conversation/delivery/notifier.ts";
import { Grouping, noGroup } from "./conversation/groups/group.ts";
import { createGroup } from "./conversation/groups/group-commands.ts";
import { isOfGroup } from "./conversation/groups/group-view.ts";
import { depart } from "./conversation/groups/remove-deleted-user.ts";
import { ConversationLog } from "./conversation/log/conversation-log.ts";
import type { Member } from "./conversation/log/member-table.ts";
import { unsign } from "./conversation/messages/anonymize-forwards.ts";
import { findOriginal, isNamed } from "./conversation/messages/attachment-access.ts";
import { setBlock } from "./conversation/messages/blocks.ts";
import { readRevised, retract } from "./conversation/messages/deletions.ts";
import { readPage, searchLog } from "./conversation/messages/history.ts";
import { Accepting } from "./conversation/messages/message-appender.ts";
import { hide, mark, receiptsOf, standingOf } from "./conversation/messages/read-state.ts";
import type {
  CallSigns,
  CallStanding,
  Checked,
  ConversationRpc,
  Departed,
  GroupDeed,
  GroupDone,
  Known,
  Newcomer,
  SearchRoom,
  SearchSlice,
  Seats,
  Standing,
} from "./rpc.ts";
import { userChannelOf } from "./stubs.ts";

const notFound: Refusal = { error: "conversation_not_found" };

/**
 * One conversation: the sequencer and only writer of its messages, and the judge of who may. Every change is
 * committed in one synchronous go together with the alarm that would tell the members of it, should this
 * instance not live long enough to do so.
 */
export class Conversation extends DurableObject<Env> implements ConversationRpc {
  #log: ConversationLog | undefined;
  readonly #telling: Telling;
  #accepting: Accepting | undefined;
  #calling: Calling | undefined;
  #grouping: Grouping | undefined;

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env);
    const log = ConversationLog.find(ctx.storage);
    this.#telling = new Telling(ctx, env, log, {
      ring: () => this.#calling?.expire(),
      next: () => this.#calling?.dueAt,
    });
    if (log) this.#use(log);
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
    // Whoever has left still learns what became of what they had sent.
    const member = this.#log?.members.known(user);
    return member && this.#accepting ? this.#accepting.send(member, messages, known) : notFound;
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
    const done = log.transaction(() => retract(log, member, log.findSeen(member, seq)));
    if (isRefusal(done)) return done;
    this.#telling.retracted(log, member, done);
    return { revision: done.revision };
  }

  async withdraw(_id: ConversationId, user: Uuid, cid: Uuid): ReturnType<ConversationRpc["withdraw"]> {
    const member = this.#log?.members.of(user);
    return member && this.#accepting ? this.#accepting.withdraw(member, cid) : notFound;
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

  async giveUp(_id: ConversationId, user: Uuid, call: Uuid): Promise<CallStanding | Refusal> {
    const member = this.#log?.members.of(user);
    return member && this.#calling ? this.#calling.giveUp(member, call) : notFound;
  }

  async signOut(_id: ConversationId, user: Uuid, ended: Uuid[] | "all"): Promise<CallStanding | Refusal> {
    const member = this.#log?.members.of(user);
    return member && this.#calling ? this.#calling.signOut(member, ended) : notFound;
  }

  async standing(_id: ConversationId, user: Uuid, call: Uuid): Promise<CallStanding | Refusal> {
    const member = this.#log?.members.of(user);
    return member && this.#calling ? this.#calling.find(member, call) : notFound;
  }

  async beat(_id: ConversationId, user: Uuid, call: Uuid, signs: CallSigns): Promise<boolean> {
    const member = this.#log?.members.of(user);
    if (!member || !this.#calling?.beat(member, call, signs)) return false;
    if (signs.unheard !== undefined) this.ctx.waitUntil(this.#seekLost(this.#calling, member, call));
    return true;
  }

  /** A page that is killed leaves no socket behind; one that is in a tunnel does, and is waited for. */
  async #seekLost(calling: Calling, member: Member, call: Uuid): Promise<void> {
    const lost = calling.findLost(member, call);
    if (!lost) return;
    const { user } = lost.other;
    try {
      if (!(await userChannelOf(this.env, user).mayCome(user, lost.device))) calling.endLost(member, call);
    } catch (error) {
      logWarning("nobody knows whether a device is there", error);
    }
  }

  async create(id: ConversationId, owner: Uuid, name: string, people: Newcomer[]): Promise<GroupDone | Refusal> {
    if (privateMembers(id)) throw new Error("a private conversation is no group");
    const isNew = !this.#log;
    if (!this.#log) {
      const log = createGroup(this.ctx.storage, id, { owner, name, people }, Date.now());
      if (isRefusal(log)) return log;
      this.#begin(log);
    }
    return this.#grouping ? this.#grouping.made(owner, isNew) : { error: "group_exists" };
  }

  async change(_id: ConversationId, user: Uuid, deed: GroupDeed): Promise<GroupDone | Refusal> {
    return this.#grouping ? this.#grouping.change(user, deed) : noGroup;
  }

  async group(_id: ConversationId, user: Uuid): Promise<Group | Refusal> {
    return this.#grouping ? this.#grouping.describe(user) : noGroup;
  }

  async seats(_id: ConversationId, user: Uuid, query: Parameters<Grouping["seats"]>[1]): Promise<Seats | Refusal> {
    return this.#grouping ? this.#grouping.seats(user, query) : noGroup;
  }

  async receipts(_id: ConversationId, user: Uuid, seq: number, seesRead: boolean): Promise<Receipts | Refusal> {
    const member = this.#log?.members.of(user);
    return this.#log && member ? receiptsOf(this.#log, member, seq, seesRead) : notFound;
  }

  async typing(_id: ConversationId, user: Uuid): Promise<void> {
    this.#grouping?.typing(user);
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

  async search(
    _id: ConversationId,
    user: Uuid,
    ...[query, room]: [CommandOf<"search">, SearchRoom]
  ): Promise<SearchSlice | Refusal> {
    const member = this.#log?.members.of(user);
    return this.#log && member ? searchLog(this.#log, member, query, room) : notFound;
  }

  override alarm(): Promise<void> {
    return this.#telling.alarm();
  }

  #ensureLog(id: ConversationId): ConversationLog {
    if (this.#log && this.#log.id !== id) throw new Error("a conversation was called by another's id");
    return this.#log ?? this.#begin(ConversationLog.create(this.ctx.storage, id));
  }

  #begin(log: ConversationLog): ConversationLog {
    this.#telling.begin(log);
    return this.#use(log);
  }

  #use(log: ConversationLog): ConversationLog {
    this.#log = log;
    this.#accepting = new Accepting(log, this.#telling, limitFactorOf(this.env));
    this.#calling = new Calling(log, this.#telling);
    this.#grouping = isOfGroup(log) ? new Grouping(log, this.#telling) : undefined;
    return log;
  }

  /** A change of who may speak to whom, and what it makes of their call. */
  #changeAll<T>(log: ConversationLog, change: () => T): T {
    return this.#calling ? this.#calling.change(change) : log.transaction(change);
  }
}
