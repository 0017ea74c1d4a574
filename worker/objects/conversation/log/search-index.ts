import * as v from "valibot";
import { searchBlockMessages, searchSliceLength } from "#contract/limits/search.ts";
import { StoredBody, searchTextOfBody } from "#contract/messages/body.ts";
import type { MessageKind } from "#contract/messages/kinds.ts";
import { toSearchWords } from "#contract/text.ts";
import { listSearchKinds, type SearchFilter, type SearchKind } from "#contract/wire/search-filter.ts";
import { fromBodyColumns } from "./body-columns.ts";

// Created after the first search, because most conversations are never searched. Words come folded and
// separated by spaces; the tokenizer `ascii` splits no word and keeps letters that newer versions of Unicode added. The
// table has no copy of the texts, and neither positions nor lengths. Deleting a word removes it from the stored pages.
// The sender and the kinds of a message are indexed as words of their own.
const tables = [
  `CREATE VIRTUAL TABLE search_index USING fts5(words, content = '', columnsize = 0, detail = none, tokenize = 'ascii')`,
  "INSERT INTO search_index (search_index, rank) VALUES ('secure-delete', 1)",
  "CREATE TABLE search_blocks (block INTEGER PRIMARY KEY, low INTEGER NOT NULL)",
];

const toBlock = (seq: number): number => Math.floor((seq - 1) / searchBlockMessages);

/** Seq of the first message of a block. */
export const toBlockStart = (seq: number): number => toBlock(seq) * searchBlockMessages + 1;

/** Stored message as the index reads it; `shown` is the body that the others see, if it differs. */
type IndexedRow = { seq: number; sender: number; kind: MessageKind; body: string; shown: string | null };

// No word of a message contains the sign `¤`, which is neither a letter nor a digit nor an emoji.
const toSenderTerm = (sender: number): string => `¤s${sender}`;
const toKindTerm = (kind: SearchKind): string => `¤k${kind}`;

/** Words of a message as any member may see it, and its sender and kinds, separated by spaces. */
const toWordList = ({ sender, kind, body, shown }: IndexedRow): string => {
  const bodies = [fromBodyColumns(kind, body), ...(shown === null ? [] : [v.parse(StoredBody, JSON.parse(shown))])];
  const kinds = new Set(bodies.flatMap(listSearchKinds));
  if (kinds.size === 0) return "";
  const words = toSearchWords(bodies.map(searchTextOfBody).join("\n"));
  return [...words, toSenderTerm(sender), ...[...kinds].map(toKindTerm)].join(" ");
};

/** Condition of the index: words that begin with each of these words, and the sender and kind of a filter. */
const toIndexQuery = (words: readonly string[], { from, kind }: SearchFilter): string =>
  [
    ...words.map((word) => `"${word}" *`),
    ...(from === undefined ? [] : [`"${toSenderTerm(from)}"`]),
    ...(kind === undefined ? [] : [`"${toKindTerm(kind)}"`]),
  ].join(" ");

/**
 * Full-text index of the older messages of a conversation, in blocks of `searchBlockMessages` seqs. A block is indexed
 * from its newest message down, only when all its messages exist. Methods that write run within the caller's
 * transaction.
 */
export class SearchIndex {
  readonly #sql: SqlStorage;
  /** Oldest indexed message of each block that has one. Undefined until it is read. */
  #lows: Map<number, number> | undefined;

  constructor(sql: SqlStorage) {
    this.#sql = sql;
  }

  /** Whether a message is indexed. */
  has(seq: number): boolean {
    const low = this.#readLows().get(toBlock(seq));
    return low !== undefined && seq >= low;
  }

  /** Oldest message of the indexed ones without a gap below this indexed message. */
  findRangeStart(seq: number): number {
    const lows = this.#readLows();
    let block = toBlock(seq);
    while (lows.get(block) === block * searchBlockMessages + 1 && lows.has(block - 1)) block -= 1;
    return lows.get(block) ?? seq;
  }

  /** Whether any message is indexed. */
  get hasBlocks(): boolean {
    return this.#readLows().size > 0;
  }

  /** Whether a message is one of those to be indexed. `head` is the newest message. */
  isMissing(seq: number, head: number): boolean {
    return seq <= head - (head % searchBlockMessages) && !this.has(seq);
  }

  /** Whether all complete blocks are indexed. `head` is the newest message. */
  isComplete(head: number): boolean {
    return this.#findGap(head) === undefined;
  }

  /**
   * Indexes the newest messages that are not indexed in a complete block: all of the block, or those up to the one that
   * reaches `searchSliceLength` characters. False if there is nothing to index.
   */
  addSlice(head: number): boolean {
    const gap = this.#findGap(head);
    if (!gap) return false;
    const query = "SELECT * FROM messages WHERE seq BETWEEN ? AND ? ORDER BY seq DESC";
    const rows: IndexedRow[] = [];
    let length = 0;
    for (const row of this.#sql.exec<IndexedRow>(query, gap.from, gap.to)) {
      rows.push(row);
      length += row.body.length;
      if (length >= searchSliceLength) break;
    }
    this.#add(rows);
    return rows.length > 0;
  }

  /** Messages of the newest complete block that has some that are not indexed. */
  #findGap(head: number): { from: number; to: number } | undefined {
    const lows = this.#readLows();
    for (let block = Math.floor(head / searchBlockMessages) - 1; block >= 0; block--) {
      const from = block * searchBlockMessages + 1;
      const low = lows.get(block) ?? from + searchBlockMessages;
      if (low > from) return { from, to: low - 1 };
    }
    return undefined;
  }

  /** Adds messages of one block without gaps, newest first. */
  #add(rows: readonly IndexedRow[]): void {
    const low = rows.at(-1)?.seq;
    if (low === undefined) return;
    const lows = this.#readLows();
    if (lows.size === 0) for (const statement of tables) this.#sql.exec(statement);
    // In ascending order, in which the index writes one segment for all of them.
    for (const row of rows.toReversed()) {
      const words = toWordList(row);
      if (words !== "") this.#sql.exec("INSERT INTO search_index (rowid, words) VALUES (?, ?)", row.seq, words);
    }
    const block = toBlock(low);
    this.#sql.exec("INSERT OR REPLACE INTO search_blocks (block, low) VALUES (?, ?)", block, low);
    lows.set(block, low);
  }

  /** Replaces the words of an indexed message that is changed. */
  replace(before: IndexedRow, after: IndexedRow): void {
    const words = toWordList(after);
    if (words === toWordList(before)) return;
    this.remove(before);
    if (words !== "") this.#sql.exec("INSERT INTO search_index (rowid, words) VALUES (?, ?)", after.seq, words);
  }

  /** Removes the words of a message, if it is indexed. It counts as indexed still. */
  remove(row: IndexedRow): void {
    const words = toWordList(row);
    if (words === "" || !this.has(row.seq)) return;
    this.#sql.exec("INSERT INTO search_index (search_index, rowid, words) VALUES ('delete', ?, ?)", row.seq, words);
  }

  /** Whether the index can look for this: a filter by time alone needs no index. */
  canFind(words: readonly string[], filter: SearchFilter): boolean {
    return toIndexQuery(words, filter) !== "";
  }

  /** Indexed messages of a range with words that begin with each of these and that pass a filter, newest first. */
  find<Row extends IndexedRow>(
    words: readonly string[],
    filter: SearchFilter,
    { from, to, limit }: { from: number; to: number; limit: number },
  ): SqlStorageCursor<Row> {
    return this.#sql.exec<Row>(
      `SELECT messages.* FROM search_index CROSS JOIN messages ON messages.seq = search_index.rowid
       WHERE search_index MATCH ? AND search_index.rowid BETWEEN ? AND ? ORDER BY search_index.rowid DESC LIMIT ?`,
      toIndexQuery(words, filter),
      from,
      to,
      limit,
    );
  }

  /** Deletes the index. */
  drop(): void {
    if (this.#readLows().size === 0) return;
    this.#sql.exec("DROP TABLE search_index");
    this.#sql.exec("DROP TABLE search_blocks");
    this.#lows = new Map();
  }

  /** Clears the cache after a transaction failed. */
  clearCache(): void {
    this.#lows = undefined;
  }

  #readLows(): Map<number, number> {
    if (!this.#lows) {
      const exists = this.#sql.exec("SELECT 1 FROM sqlite_master WHERE name = 'search_blocks'").toArray().length > 0;
      const rows = exists
        ? this.#sql.exec<{ block: number; low: number }>("SELECT block, low FROM search_blocks").toArray()
        : [];
      this.#lows = new Map(rows.map(({ block, low }) => [block, low]));
    }
    return this.#lows;
  }
}
