import { type InboxRow, isListed, isMutedAt } from "#contract/conversations.ts";
import { type ConversationId, otherMember } from "#contract/ids.ts";
import { inboxPageRows } from "#contract/limits/conversations.ts";
import type { Relation } from "#contract/people.ts";
import type { ListPage } from "#contract/wire/commands.ts";
import type { RelationColumns, RelationTable } from "./contacts-table.ts";
import { type InboxColumns, toInboxEntry } from "./inbox-columns.ts";
import type { InboxEntry } from "./inbox-merge.ts";
import { bucketOf, bucketSize } from "./inbox-table.ts";

type InboxChange = { changed: number; row: InboxColumns } | { changed: number; person: RelationColumns };

export type ChangesPage = { rows: InboxRow[]; people: Relation[]; before: number | null };

/** Inbox row without the columns that only the server uses, and without a mute that has ended. */
export const toInboxRow = ({
  countedUpTo: _countedUpTo,
  membershipVersion: _membershipVersion,
  changed: _changed,
  lastReadChange: _lastReadChange,
  lastArrivalChange: _lastArrivalChange,
  pinnedVersion: _pinnedVersion,
  pushMark: _pushMark,
  ...row
}: InboxEntry): InboxRow =>
  row.muted && !isMutedAt(row, Date.now())
    ? { ...row, muted: false, mutedUntil: null, mutedExceptMentions: false }
    : row;

/** Iterator with one row of lookahead, for merging two tables. */
class Peekable<T> {
  readonly #rows: Iterator<T, undefined>;
  next: T | undefined;

  constructor(rows: Iterable<T>) {
    this.#rows = rows[Symbol.iterator]() as Iterator<T, undefined>;
    this.next = this.#rows.next().value;
  }

  advance(): T | undefined {
    const row = this.next;
    this.next = this.#rows.next().value;
    return row;
  }
}

/**
 * Page of changes with numbers between `since` and `before`, both exclusive, newest first. The index is on `bucket`, a
 * range of change numbers, so a page consists of whole buckets. Rows read: those returned, one more of each table to
 * find the end, and those in the bucket of `since`.
 */
const readChangesPage = (sql: SqlStorage, tables: { people: boolean }, since: number, before: number) => {
  const range = "WHERE bucket BETWEEN ? AND ? ORDER BY bucket DESC";
  const bounds = [bucketOf(since), bucketOf(before - 1)];
  const rows = new Peekable(sql.exec<InboxColumns>(`SELECT * FROM inbox ${range}`, ...bounds));
  const people = new Peekable(
    tables.people ? sql.exec<RelationColumns>(`SELECT * FROM people ${range}`, ...bounds) : [],
  );
  const page: InboxChange[] = [];
  while (rows.next || people.next) {
    const bucket = Math.max(rows.next?.bucket ?? 0, people.next?.bucket ?? 0);
    const found: InboxChange[] = [];
    const isPageFull = () => page.length + found.length > inboxPageRows;
    for (let row = rows.next; row?.bucket === bucket && !isPageFull(); row = rows.next) {
      if (row.changed > since && row.changed < before) found.push({ changed: row.changed, row });
      rows.advance();
    }
    for (let person = people.next; person?.bucket === bucket && !isPageFull(); person = people.next) {
      if (person.changed > since && person.changed < before) found.push({ changed: person.changed, person });
      people.advance();
    }
    // A bucket that does not fit starts the next page. A bucket always fits into an empty page.
    if (isPageFull()) return { page, before: (bucket + 1) * bucketSize };
    page.push(...found.sort((a, b) => b.changed - a.changed));
  }
  return { page, before: null };
};

/** Page of changed conversations and relations, for a device whose cursor is `since`. */
export const readInboxChanges = (sql: SqlStorage, table: RelationTable, since: number, before: number): ChangesPage => {
  const { page, before: next } = readChangesPage(sql, { people: true }, since, before);
  return {
    rows: page.flatMap((change) => ("row" in change ? [toInboxRow(toInboxEntry(change.row))] : [])),
    people: page.flatMap((change) => ("person" in change ? [table.read(change.person)] : [])),
    before: next,
  };
};

/**
 * Adds all pinned conversations and one archived one to the first page, as far as it does not have them, and the people
 * of those: the top of the list depends on them, however long ago they changed.
 */
export const addFlaggedRows = (sql: SqlStorage, table: RelationTable, me: string, page: ChangesPage): void => {
  const known = new Set(page.rows.map(({ conversation }) => conversation));
  const people = new Set(page.people.map(({ profile }) => profile.id));
  const pinned = sql.exec<InboxColumns>("SELECT * FROM inbox WHERE pinned_at IS NOT NULL").toArray();
  const archived = page.rows.some((row) => row.archived)
    ? []
    : sql.exec<InboxColumns>("SELECT * FROM inbox WHERE archived = 1 LIMIT 1").toArray();
  for (const columns of [...pinned, ...archived]) {
    if (known.has(columns.conversation)) continue;
    page.rows.push(toInboxRow(toInboxEntry(columns)));
    const peer = otherMember(columns.conversation, me) ?? "";
    const relation = people.has(peer) ? undefined : table.find(peer);
    if (relation) page.people.push(relation);
  }
};

/** Page of the conversations that the list shows, last changed first. */
export const readConversationList = (sql: SqlStorage, before: number): ListPage => {
  const { page, before: next } = readChangesPage(sql, { people: false }, 0, before);
  const rows = page.flatMap((change) => ("row" in change ? [toInboxRow(toInboxEntry(change.row))] : []));
  return { rows: rows.filter(isListed), before: next };
};

/** Muted conversations, last changed first. */
export const listMutedConversations = (sql: SqlStorage): ConversationId[] =>
  sql
    .exec<{ conversation: ConversationId; changed: number }>(
      `SELECT conversation, changed FROM inbox
       WHERE muted = 1 AND gone = 0 AND (muted_until IS NULL OR muted_until > ?)`,
      Date.now(),
    )
    .toArray()
    .sort((a, b) => b.changed - a.changed)
    .map(({ conversation }) => conversation);
