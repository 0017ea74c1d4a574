import type { ReadState } from "#contract/conversations.ts";
import type { GroupRole } from "#contract/groups.ts";
import type { Uuid } from "#contract/ids.ts";
import { toAssignments, toParameters } from "#worker/objects/shared/columns.ts";

/**
 * `quiet`: a member for the others, who is told nothing. `leaving`: gone, and their channel has not confirmed it;
 * `quietLeaving`: both, for somebody who left and was seated without a word before that.
 */
type MemberState = "in" | "quiet" | "quietLeaving" | "leaving" | "out";

/** Somebody who is or was a member of a conversation, as it is stored. */
export type Member = ReadState & {
  number: number;
  user: Uuid;
  /** Messages up to here are gone from their view. */
  hidden: number;
  /** They let nothing of the other through. */
  isBlocking: boolean;
  /** The newest place they see, when that is not the head: what was withheld from them after it is not there for them. */
  visibleUpTo: number | null;
  /** Their marks as the others see them, where these stand still or do not show what was read. */
  shownReadState: ReadState | null;
  /** What they read last they read unseen. */
  hidesReads: boolean;
  state: MemberState;
  role: GroupRole;
  /** The head when they came: what stands up to there is not for them. For who is gone, the head when they went. */
  visibleAfter: number;
  /** When they came. */
  since: number;
  /** How often they came or went. */
  membershipVersion: number;
  /** The roster of their last change. */
  version: number;
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
  state: MemberState;
  role: GroupRole;
  joined: number;
  since: number;
  turn: number;
  version: number;
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
  state: row.state,
  role: row.role,
  visibleAfter: row.joined,
  since: row.since,
  membershipVersion: row.turn,
  version: row.version,
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
  "state",
  "role",
  "joined",
  "since",
  "turn",
  "version",
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
  state: member.state,
  role: member.role,
  joined: member.visibleAfter,
  since: member.since,
  turn: member.membershipVersion,
  version: member.version,
});

const updateStatement = `UPDATE members SET ${toAssignments(updatedColumns)} WHERE number = ?`;

/** A member in everybody's eyes. */
export const isVisibleMember = ({ state }: Member): boolean =>
  state === "in" || state === "quiet" || state === "quietLeaving";

export const isLeaveUnconfirmed = ({ state }: Member): boolean => state === "leaving" || state === "quietLeaving";

/** The least of some numbers, whose it is, and the least of the others'. */
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

/** The members of a conversation, in the table and in memory. Numbers are places: nobody ever loses theirs. */
export class MemberTable {
  readonly #sql: SqlStorage;
  readonly #all: Member[];
  readonly #numbers = new Map<Uuid, number>();
  /** What is derived from all of them, until one of them changes. */
  #visible: Member[] | undefined;
  #active: Member[] | undefined;
  #lowestReadState: LowestReadState | undefined;
  /** How members were before the transaction under way, and how many there were. */
  #before: Map<number, Member> | undefined;
  #countBefore = 0;

  constructor(sql: SqlStorage) {
    this.#sql = sql;
    this.#all = sql.exec<MemberColumns>("SELECT * FROM members ORDER BY number").toArray().map(toMember);
    for (const { user, number } of this.#all) this.#numbers.set(user, number);
  }

  /** Those who are told of everything. */
  get present(): readonly Member[] {
    this.#active ??= this.#all.filter(({ state }) => state === "in");
    return this.#active;
  }

  /** Those whom everybody takes for members. */
  get visible(): readonly Member[] {
    this.#visible ??= this.#all.filter(isVisibleMember);
    return this.#visible;
  }

  /** Those who were members and whose channels have not confirmed that they know. */
  get leaving(): readonly Member[] {
    return this.#all.filter(isLeaveUnconfirmed);
  }

  get all(): readonly Member[] {
    return this.#all;
  }

  /** The least marks of all members, without those of any one of them at hand. */
  get lowestReadState(): LowestReadState {
    this.#lowestReadState ??= {
      delivered: findMinimum(this.visible, "delivered"),
      read: findMinimum(this.visible, "read"),
    };
    return this.#lowestReadState;
  }

  /** The member that a person is. */
  findActive(user: Uuid): Member | undefined {
    const member = this.find(user);
    return member?.state === "in" ? member : undefined;
  }

  /** Somebody who is or was a member. */
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

  /** Their channel knows that they left. */
  confirmLeft(member: Member): void {
    if (isLeaveUnconfirmed(member)) this.update(member, { state: member.state === "quietLeaving" ? "quiet" : "out" });
  }

  /** Somebody who was never a member: nothing is known of them but a number. */
  add(user: Uuid): Member {
    const number = this.#all.length;
    this.#sql.exec("INSERT INTO members (number, user_id, state) VALUES (?, ?, 'out')", number, user);
    const [row] = this.#sql.exec<MemberColumns>("SELECT * FROM members WHERE number = ?", number).toArray();
    if (!row) throw new Error("a member who was just added is not there");
    const member = toMember(row);
    this.#all.push(member);
    this.#numbers.set(user, number);
    return member;
  }

  /** What follows can be taken back. */
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
