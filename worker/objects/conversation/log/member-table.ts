import * as v from "valibot";
import type { GroupRole } from "#contract/groups.ts";
import type { Uuid } from "#contract/ids.ts";
import type { ReadState } from "#contract/messages/positions.ts";
import { toAssignments, toParameters } from "#worker/objects/shared/columns.ts";
import { isFormerReader, KeptHistory } from "./memberships.ts";

/**
 * `in`: active member. `quiet`: hidden member, visible to the others and never notified. `leaving`: has left, not
 * confirmed by their channel. `quietLeaving`: hidden member whose earlier leave is not confirmed. `out`: former member.
 */
type MemberState = "in" | "quiet" | "quietLeaving" | "leaving" | "out";

/** Current or former member of a conversation. */
export type Member = ReadState & {
  number: number;
  user: Uuid;
  /** Seq up to which the member cleared the history. */
  hidden: number;
  /** Whether the member blocks the peer. */
  isBlocking: boolean;
  /** Seq of the newest message this member sees, null if it is the head. Undelivered messages follow it. */
  visibleUpTo: number | null;
  /**
   * Read state shown to the others, null if it equals the real one. It differs while the member blocks or hides what
   * they read.
   */
  shownReadState: ReadState | null;
  /** Whether the member hid their last read from the others. */
  hidesReads: boolean;
  /** Times of the shown read state (`messages/receipt-marks.ts`), null in groups and before the first. */
  receiptMarks: string | null;
  state: MemberState;
  role: GroupRole;
  /**
   * Head at the time of joining; messages up to it are invisible to the member. For former members the head at the time
   * of leaving.
   */
  visibleAfter: number;
  /** Time of joining, epoch milliseconds. */
  since: number;
  /** Number of times the member joined or left. */
  membershipVersion: number;
  /** Members version of the last change to this member. */
  version: number;
  /** History kept of earlier memberships, null if there is none. */
  kept: KeptHistory | null;
};

type MemberColumns = {
  number: number;
  user_id: Uuid;
  delivered: number;
  read: number;
  hidden: number;
  blocks: number;
  ends: number | null;
  shown_delivered: number | null;
  shown_read: number | null;
  hides: number;
  marks: string | null;
  state: MemberState;
  role: GroupRole;
  joined: number;
  since: number;
  turn: number;
  version: number;
  kept: string | null;
};

const toMember = (row: MemberColumns): Member => ({
  number: row.number,
  user: row.user_id,
  delivered: row.delivered,
  read: row.read,
  hidden: row.hidden,
  isBlocking: row.blocks === 1,
  visibleUpTo: row.ends,
  shownReadState: row.shown_delivered === null ? null : { delivered: row.shown_delivered, read: row.shown_read ?? 0 },
  hidesReads: row.hides === 1,
  receiptMarks: row.marks,
  state: row.state,
  role: row.role,
  visibleAfter: row.joined,
  since: row.since,
  membershipVersion: row.turn,
  version: row.version,
  kept: row.kept === null ? null : v.parse(KeptHistory, JSON.parse(row.kept)),
});

const updatedColumns = [
  "delivered",
  "read",
  "hidden",
  "blocks",
  "ends",
  "shown_delivered",
  "shown_read",
  "hides",
  "marks",
  "state",
  "role",
  "joined",
  "since",
  "turn",
  "version",
  "kept",
] as const satisfies readonly (keyof MemberColumns)[];

const toColumns = (member: Member): Pick<MemberColumns, (typeof updatedColumns)[number]> => ({
  delivered: member.delivered,
  read: member.read,
  hidden: member.hidden,
  blocks: member.isBlocking ? 1 : 0,
  ends: member.visibleUpTo,
  shown_delivered: member.shownReadState?.delivered ?? null,
  shown_read: member.shownReadState?.read ?? null,
  hides: member.hidesReads ? 1 : 0,
  marks: member.receiptMarks,
  state: member.state,
  role: member.role,
  joined: member.visibleAfter,
  since: member.since,
  turn: member.membershipVersion,
  version: member.version,
  kept: member.kept === null ? null : JSON.stringify(member.kept),
});

const updateStatement = `UPDATE members SET ${toAssignments(updatedColumns)} WHERE number = ?`;

/** Whether the others see this person as a member. */
export const isVisibleMember = ({ state }: Member): boolean =>
  state === "in" || state === "quiet" || state === "quietLeaving";

export const isLeaveUnconfirmed = ({ state }: Member): boolean => state === "leaving" || state === "quietLeaving";

/** Lowest value, the number of the member who has it, and the lowest value of all the others. */
type Minimum = { holder: number; lowest: number; next: number };
export type LowestReadState = { delivered: Minimum; read: Minimum };

const noMinimum = { holder: -1, lowest: Number.POSITIVE_INFINITY, next: Number.POSITIVE_INFINITY };

const findMinimum = (members: readonly Member[], kind: keyof ReadState): Minimum => {
  const found: Minimum = { ...noMinimum };
  for (const member of members) {
    const seq = (member.shownReadState ?? member)[kind];
    if (seq < found.lowest) Object.assign(found, { holder: member.number, lowest: seq, next: found.lowest });
    else if (seq < found.next) found.next = seq;
  }
  return found;
};

/** Members of a conversation, in the table and in memory. A member number is an index and is never reused. */
export class MemberTable {
  readonly #sql: SqlStorage;
  readonly #all: Member[];
  readonly #numbers = new Map<Uuid, number>();
  /** Derived lists, computed on demand and cleared when a member changes. */
  #visible: Member[] | undefined;
  #active: Member[] | undefined;
  #lowestReadState: LowestReadState | undefined;
  /** Members as they were before the current transaction, and their count. */
  #before: Map<number, Member> | undefined;
  #countBefore = 0;

  constructor(sql: SqlStorage) {
    this.#sql = sql;
    this.#all = sql.exec<MemberColumns>("SELECT * FROM members ORDER BY number").toArray().map(toMember);
    for (const { user, number } of this.#all) this.#numbers.set(user, number);
  }

  /** Active members: those who are notified. */
  get active(): readonly Member[] {
    this.#active ??= this.#all.filter(({ state }) => state === "in");
    return this.#active;
  }

  /** Members as the others see them, hidden members included. */
  get visible(): readonly Member[] {
    this.#visible ??= this.#all.filter(isVisibleMember);
    return this.#visible;
  }

  /** Former members whose channels have not confirmed the removal. */
  get leaving(): readonly Member[] {
    return this.#all.filter(isLeaveUnconfirmed);
  }

  /** Former members who keep the history they had. */
  get formerReaders(): readonly Member[] {
    return this.#all.filter(isFormerReader);
  }

  get all(): readonly Member[] {
    return this.#all;
  }

  /** Lowest read state over all visible members, from which each one's own value can be excluded. */
  get lowestReadState(): LowestReadState {
    this.#lowestReadState ??= {
      delivered: findMinimum(this.visible, "delivered"),
      read: findMinimum(this.visible, "read"),
    };
    return this.#lowestReadState;
  }

  /** The active member for a user. */
  findActive(user: Uuid): Member | undefined {
    const member = this.find(user);
    return member?.state === "in" ? member : undefined;
  }

  /** The active member for a user, or the former one who keeps the history they had. */
  findReader(user: Uuid): Member | undefined {
    const member = this.find(user);
    return member && (member.state === "in" || isFormerReader(member)) ? member : undefined;
  }

  /** The current or former member for a user. */
  find(user: Uuid): Member | undefined {
    const number = this.#numbers.get(user);
    return number === undefined ? undefined : this.#all[number];
  }

  findByNumber(number: number): Member | undefined {
    return this.#all[number];
  }

  update(member: Member, change: Partial<Member>): void {
    if (this.#before && !this.#before.has(member.number)) this.#before.set(member.number, { ...member });
    Object.assign(member, change);
    this.#lowestReadState = undefined;
    if (change.state !== undefined) this.#invalidate();
    this.#sql.exec(updateStatement, ...toParameters(updatedColumns, toColumns(member)), member.number);
  }

  /** Records that the member's channel knows they left. */
  confirmLeft(member: Member): void {
    if (isLeaveUnconfirmed(member)) this.update(member, { state: member.state === "quietLeaving" ? "quiet" : "out" });
  }

  /** Adds a person who was never a member, in state `out`. */
  add(user: Uuid): Member {
    const number = this.#all.length;
    this.#sql.exec("INSERT INTO members (number, user_id, state) VALUES (?, ?, 'out')", number, user);
    const [row] = this.#sql.exec<MemberColumns>("SELECT * FROM members WHERE number = ?", number).toArray();
    if (!row) throw new Error("the added member is missing");
    const member = toMember(row);
    this.#all.push(member);
    this.#numbers.set(user, number);
    return member;
  }

  /** Records members for `rollback`. */
  beginTransaction(): void {
    this.#before = new Map();
    this.#countBefore = this.#all.length;
  }

  commit(): void {
    this.#before = undefined;
  }

  rollback(): void {
    for (const { user } of this.#all.splice(this.#countBefore)) this.#numbers.delete(user);
    for (const [number, before] of this.#before ?? []) {
      const member = this.#all[number];
      if (member) Object.assign(member, before);
    }
    this.#before = undefined;
    this.#invalidate();
  }

  #invalidate(): void {
    this.#visible = undefined;
    this.#active = undefined;
    this.#lowestReadState = undefined;
  }
}
