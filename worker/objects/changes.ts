import type { ListPage } from "../../contract/commands";
import type { InboxRow } from "../../contract/conversations";
import { inboxPageRows } from "../../contract/limits";
import type { Relation } from "../../contract/people";
import { bucketOf, type InboxColumns, toEntry } from "./inbox";
import type { Entry } from "./inbox-rules";
import { type PeopleColumns, toRelation } from "./people-table";

type Change = { changed: number; row: InboxColumns } | { changed: number; person: PeopleColumns };

export type ChangesPage = { rows: InboxRow[]; people: Relation[]; before: number | null };

/** The fields that leave the channel. */
export const toInboxRow = ({ counted: _counted, turn: _turn, changed: _changed, ...row }: Entry): InboxRow => row;

/** The counter as the tables have it: the newest change of either. */
export const readCounter = (sql: SqlStorage): number => {
  const newest = ["inbox", "people"].flatMap((table) =>
    sql
      .exec<{ changed: number }>(`SELECT changed FROM ${table} WHERE bucket = (SELECT max(bucket) FROM ${table})`)
      .toArray(),
  );
  return Math.max(0, ...newest.map((row) => row.changed));
};

/** Reads ahead by one, so that two tables can be walked side by side. */
class Peekable<T> {
  readonly #rows: Iterator<T, undefined>;
  next: T | undefined;

  constructor(rows: Iterable<T>) {
    this.#rows = rows[Symbol.iterator]() as Iterator<T, undefined>;
    this.next = this.#rows.next().value;
  }

  take(): T | undefined {
    const taken = this.next;
    this.next = this.#rows.next().value;
    return taken;
  }
}

/** Every change after `since` and before `before`, newest first. Reads only as far as it is asked. */
function* walk(sql: SqlStorage, tables: { people: boolean }, since: number, before: number): Generator<Change> {
  const range = "WHERE bucket BETWEEN ? AND ? ORDER BY bucket DESC";
  const bounds = [bucketOf(since), bucketOf(before)];
  const rows = new Peekable(sql.exec<InboxColumns>(`SELECT * FROM inbox ${range}`, ...bounds));
  const people = new Peekable(tables.people ? sql.exec<PeopleColumns>(`SELECT * FROM people ${range}`, ...bounds) : []);
  while (rows.next || people.next) {
    const bucket = Math.max(rows.next?.bucket ?? 0, people.next?.bucket ?? 0);
    const changes: Change[] = [];
    for (let row = rows.next; row?.bucket === bucket; row = rows.next) {
      changes.push({ changed: row.changed, row });
      rows.take();
    }
    for (let person = people.next; person?.bucket === bucket; person = people.next) {
      changes.push({ changed: person.changed, person });
      people.take();
    }
    changes.sort((a, b) => b.changed - a.changed);
    yield* changes.filter(({ changed }) => changed > since && changed < before);
  }
}

/** A page of what changed, conversations and people together, and where the next one goes on. */
export const readChanges = (sql: SqlStorage, since: number, before: number): ChangesPage => {
  const page: ChangesPage = { rows: [], people: [], before: null };
  let last = 0;
  let count = 0;
  for (const change of walk(sql, { people: true }, since, before)) {
    if (count === inboxPageRows) return { ...page, before: last };
    count += 1;
    last = change.changed;
    if ("row" in change) page.rows.push(toInboxRow(toEntry(change.row)));
    else page.people.push(toRelation(change.person));
  }
  return page;
};

/** A page of the conversations that have something to see, those that changed last first. */
export const readList = (sql: SqlStorage, before: number): ListPage => {
  const rows: InboxRow[] = [];
  let last = 0;
  let count = 0;
  for (const change of walk(sql, { people: false }, 0, before)) {
    if (count === inboxPageRows) return { rows, before: last };
    count += 1;
    last = change.changed;
    if ("row" in change && change.row.head > change.row.hidden) rows.push(toInboxRow(toEntry(change.row)));
  }
  return { rows, before: null };
};
