import { searchTextOfBody } from "#contract/conversations.ts";
import { foldText, toSearchWords, toWordPatterns } from "#contract/text.ts";
import type { LocalConversationRow, LocalStore } from "#sync/store/database.ts";

const newestSeqs = 30; // read first, which shows a frequent word at once
const blockSeqs = 500;
const cachedLengthMax = 20_000_000; // UTF-16 units of text
const separator = "\0"; // no message contains it

const toBlockStart = (seq: number): number => seq - ((seq - 1) % blockSeqs);

/** Folded texts of the stored messages of a range of seqs. */
type TextBlock = { seqs: number[]; text: string };
type BlockRange = { from: number; to: number; key: string };

/** Query that is compared with folded texts. */
export class FoldedQuery {
  readonly #words: string[];
  readonly #patterns: RegExp[];

  constructor(query: string) {
    this.#words = toSearchWords(query);
    this.#patterns = toWordPatterns(query);
  }

  get isEmpty(): boolean {
    return this.#words.length === 0;
  }

  /** Whether each word of the query begins a word of the text. */
  matches(folded: string): boolean {
    return this.mayMatch(folded) && this.#patterns.every((pattern) => folded.search(pattern) !== -1);
  }

  /** Whether each word of the query is somewhere in the text. */
  mayMatch(folded: string): boolean {
    return this.#words.every((word) => folded.includes(word));
  }
}

/**
 * Folded texts of stored messages, kept in memory while a person types a query, so that each message is read from the
 * store once. A block is read anew when its conversation has changed.
 */
export class TextBlockCache {
  readonly #blocks = new Map<string, TextBlock>();
  #length = 0;

  async read(store: LocalStore, row: LocalConversationRow, { from, to, key }: BlockRange): Promise<TextBlock> {
    const cached = this.#blocks.get(key);
    if (cached) return cached;
    const messages = await store.queryMessages(row.id, from, to).toArray();
    const block = {
      seqs: messages.map(({ seq }) => seq),
      text: messages.map(({ body }) => foldText(searchTextOfBody(body))).join(separator),
    };
    if (this.#length + block.text.length <= cachedLengthMax) {
      this.#length += block.text.length;
      this.#blocks.set(key, block);
    }
    return block;
  }
}

/**
 * Search through the stored messages of one conversation that its person has not cleared: the newest few messages, then
 * blocks of older ones.
 */
export class ConversationScan {
  readonly row: LocalConversationRow;
  /** Seqs of the newest matches, newest first. */
  readonly seqs: number[] = [];
  readonly #max: number;
  readonly #newest: number;
  readonly #oldest: number;
  /** Newest message that is not searched yet. */
  #next: number;

  constructor(row: LocalConversationRow, max: number) {
    this.row = row;
    this.#max = max;
    this.#oldest = Math.max(row.hidden + 1, Math.min(row.lo, row.hi));
    this.#newest = Math.max(this.#oldest, row.hi);
    this.#next = this.#newest;
  }

  get isFull(): boolean {
    return this.seqs.length >= this.#max;
  }

  get isDone(): boolean {
    return this.isFull || this.#isRead;
  }

  get #isRead(): boolean {
    return this.#next < this.#oldest;
  }

  /** Searches the next blocks, at most `count`, which are read side by side. */
  async advance(store: LocalStore, cache: TextBlockCache, query: FoldedQuery, count = 1): Promise<void> {
    const ranges: BlockRange[] = [];
    while (ranges.length < count && !this.#isRead) ranges.push(this.#takeRange());
    const blocks = await Promise.all(ranges.map((range) => cache.read(store, this.row, range)));
    for (const block of blocks) this.#search(block, query);
  }

  #search({ seqs, text }: TextBlock, query: FoldedQuery): void {
    if (!query.mayMatch(text)) return;
    const texts = text.split(separator);
    for (let index = texts.length - 1; index >= 0 && !this.isFull; index--) {
      const seq = seqs[index];
      if (seq !== undefined && query.matches(texts[index] ?? "")) this.seqs.push(seq);
    }
  }

  /** Range of the next block. The outermost blocks extend to the messages that are stored besides the range without gaps. */
  #takeRange(): BlockRange {
    const { id, epoch, revised, hidden, lo, hi } = this.row;
    const next = this.#next;
    const isNewest = next === this.#newest;
    const start = isNewest ? next - newestSeqs + 1 : toBlockStart(next);
    const isOldest = start <= this.#oldest;
    const from = isOldest ? hidden + 1 : start;
    const to = isNewest ? Number.MAX_SAFE_INTEGER : next;
    this.#next = start - 1;
    const key = [id, epoch, revised, from, to, isOldest ? lo : 0, isNewest ? hi : 0].join(" ");
    return { from, to, key };
  }
}
