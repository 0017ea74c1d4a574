import type { Marks } from "../../contract/conversations";
import type { Uuid } from "../../contract/ids";

/** A member of a conversation, as it is stored. */
export type Member = Marks & {
  number: number;
  user: Uuid;
  /** Messages up to here are gone from their view. */
  hidden: number;
  /** They let nothing of the other through. */
  blocks: boolean;
  /** The newest place they see, when that is not the head: what was withheld from them after it is not there for them. */
  ends: number | null;
  /** Their marks as the other sees them, while these stand still. */
  shown: Marks | null;
};

type Columns = {
  number: number;
  user_id: Uuid;
  delivered: number;
  read: number;
  hidden: number;
  blocks: number;
  ends: number | null;
  shown_delivered: number | null;
  shown_read: number | null;
};

const toMember = (row: Columns): Member => ({
  number: row.number,
  user: row.user_id,
  delivered: row.delivered,
  read: row.read,
  hidden: row.hidden,
  blocks: row.blocks === 1,
  ends: row.ends,
  shown: row.shown_delivered === null ? null : { delivered: row.shown_delivered, read: row.shown_read ?? 0 },
});

export const readMembers = (sql: SqlStorage): Member[] =>
  sql.exec<Columns>("SELECT * FROM members ORDER BY number").toArray().map(toMember);

/** Changes a member in the table and in memory, within the caller's transaction. */
export const changeMember = (sql: SqlStorage, member: Member, change: Partial<Member>): void => {
  Object.assign(member, change);
  const { number, delivered, read, hidden, blocks, ends, shown } = member;
  sql.exec(
    `UPDATE members SET delivered = ?, read = ?, hidden = ?, blocks = ?, ends = ?, shown_delivered = ?, shown_read = ?
     WHERE number = ?`,
    delivered,
    read,
    hidden,
    blocks ? 1 : 0,
    ends,
    shown?.delivered ?? null,
    shown?.read ?? null,
    number,
  );
};
