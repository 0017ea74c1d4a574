import { searchTextOfBody } from "#contract/messages/body.ts";
import { nonAscii, removeMarks } from "#contract/text.ts";
import { createMessageMatcher, type SearchFilter } from "#contract/wire/search-filter.ts";
import type { FoldedQuery } from "#lib/text/search-matching.ts";
import type { LocalConversationRow, LocalMessageRow, LocalStore } from "#sync/store/database.ts";

const newestSeqs = 30; // read first, which shows a frequent word at once
const blockSeqs = 500;
const cachedLengthMax = 20_000_000; // UTF-16 units of text
const separator = "\0"; // no message contains it

/** Single letters without marks. There are few, and looking one up makes folding French messages four times as fast. */
const plainLetters = new Map<string, string>();

const toPlainLetters = (run: string): string => {
  if (run.length > 1) return removeMarks(run);
  const plain = plainLetters.get(run) ?? removeMarks(run);
  plainLetters.set(run, plain);
  return plain;
};

/** `foldText` for many texts joined in one. */
const foldTexts = (text: string): string => text.replace(nonAscii, toPlainLetters).toLowerCase();

const toBlockStart = (seq: number): number => seq - ((seq - 1) % blockSeqs);

/**
 * Folded texts of the stored messages of a range of seqs that pass a filter. `since`: time of the oldest message of the
 * range. `messages`: only those of the newest range, which are shown without being read again.
 */
export type TextBlock = { seqs: number[]; text: string; since: number; messages: LocalMessageRow[] };
type BlockRange = { from: number; to: number; key: string; isNewest: boolean };

/** Indexes of the newest texts of a block that match, newest first, at most `max`. */
export const findInBlock = ({ text }: Pick<TextBlock, "text">, query: FoldedQuery, max: number): number[] => {
  if (!query.mayMatch(text)) return [];
  const texts = text.split(separator);
  const found: number[] = [];
  for (let index = texts.length - 1; index >= 0 && found.length < max; index--)
    if (query.matches(texts[index] ?? "")) found.push(index);
  return found;
};

/**
 * Folded texts of stored messages, kept in memory while a person types a query, so that each message is read from the
 * store once. A block is read anew when its conversation has changed.
 */
export class TextBlockCache {
  readonly #blocks = new Map<string, TextBlock>();
  #length = 0;

  async read(
    store: LocalStore,
    row: LocalConversationRow,
    range: BlockRange,
    isWanted: (message: LocalMessageRow) => boolean,
  ): Promise<TextBlock> {
    return this.#blocks.get(range.key) ?? this.readAnew(store, row, range, isWanted);
  }

  /** Reads a block from the store and replaces the one in memory. */
  async readAnew(
    store: LocalStore,
    row: LocalConversationRow,
    { from, to, key, isNewest }: BlockRange,
    isWanted: (message: LocalMessageRow) => boolean,
  ): Promise<TextBlock> {
    const read = await store.queryMessages(row.id, from, to).toArray();
    const messages = read.filter(isWanted);
    const block = {
      seqs: messages.map(({ seq }) => seq),
      text: foldTexts(messages.map(({ body }) => searchTextOfBody(body)).join(separator)),
      since: read[0]?.at ?? Number.POSITIVE_INFINITY,
      messages: isNewest ? messages : [],
    };
    const added = block.text.length - (this.#blocks.get(key)?.text.length ?? 0);
    if (this.#length + added <= cachedLengthMax) {
      this.#length += added;
      this.#blocks.set(key, block);
    }
    return block;
  }
}

/**
 * Search through the stored messages of one conversation that pass a filter and that its person has not cleared: the
 * newest few messages, then blocks of older ones.
 */
export class ConversationScan {
  readonly row: LocalConversationRow;
  readonly filter: SearchFilter;
  /** Seqs of the newest matches, newest first. */
  readonly seqs: number[] = [];
  /** Whether all older messages, also those on the server, are too old for the filter. */
  isPast = false;
  readonly #max: number;
  readonly #isWanted: (message: LocalMessageRow) => boolean;
  readonly #newest: number;
  readonly #oldest: number;
  /** Newest message that is not searched yet. */
  #next: number;

  constructor(row: LocalConversationRow, max: number, filter: SearchFilter = {}) {
    this.row = row;
    this.#max = max;
    this.filter = filter;
    this.#isWanted = createMessageMatcher(undefined, filter);
    this.#oldest = Math.max(row.hidden + 1, Math.min(row.storedFrom, row.storedTo));
    this.#newest = Math.max(this.#oldest, row.storedTo);
    this.#next = this.#newest;
  }

  get isFull(): boolean {
    return this.seqs.length >= this.#max;
  }

  get isDone(): boolean {
    return this.isFull || this.#isRead;
  }

  get #isRead(): boolean {
    return this.isPast || this.#next < this.#oldest;
  }

  /** Reads the block of the newest messages from the store. Must be called first. */
  readNewest(store: LocalStore, cache: TextBlockCache): Promise<TextBlock> {
    return cache.readAnew(store, this.row, this.#takeRange(), this.#isWanted);
  }

  /** Searches the next blocks, at most `count`, which are read side by side. */
  async advance(store: LocalStore, cache: TextBlockCache, query: FoldedQuery, count = 1): Promise<void> {
    const ranges: BlockRange[] = [];
    while (ranges.length < count && !this.#isRead) ranges.push(this.#takeRange());
    const blocks = await Promise.all(ranges.map((range) => cache.read(store, this.row, range, this.#isWanted)));
    for (const block of blocks) this.#search(block, query);
  }

  #search(block: TextBlock, query: FoldedQuery): void {
    // Times never decrease.
    this.isPast ||= block.since < (this.filter.after ?? 0);
    for (const index of findInBlock(block, query, this.#max - this.seqs.length)) {
      const seq = block.seqs[index];
      if (seq !== undefined) this.seqs.push(seq);
    }
  }

  /** Range of the next block. The outermost ones include the messages stored besides the range without gaps. */
  #takeRange(): BlockRange {
    const { id, epoch, revised, hidden, storedFrom, storedTo } = this.row;
    const next = this.#next;
    const isNewest = next === this.#newest;
    const start = isNewest ? next - newestSeqs + 1 : toBlockStart(next);
    const isOldest = start <= this.#oldest;
    const from = isOldest ? hidden + 1 : start;
    const to = isNewest ? Number.MAX_SAFE_INTEGER : next;
    this.#next = start - 1;
    const bounds = [from, to, isOldest ? storedFrom : 0, isNewest ? storedTo : 0];
    const key = [id, epoch, revised, ...bounds, JSON.stringify(this.filter)].join(" ");
    return { from, to, key, isNewest };
  }
}
