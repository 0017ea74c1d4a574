import { foldText } from "#contract/text.ts";

export type TextSpan = { start: number; end: number };

const signs = /([^\p{L}\p{N}\p{Extended_Pictographic}]+)/u;
const escapePattern = (text: string): string => text.replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&");

/** Part of a query, folded: its literal pieces, and a pattern if signs separate them. */
type QueryPart = { pieces: string[]; pattern: RegExp | undefined };

/**
 * Signs between two words match any signs, so that "l'ete" finds "l’été" and "rendez-vous" finds "rendez vous". Others
 * are literal: "(bureau" and "+243" find what they say.
 */
const toQueryPart = (text: string): QueryPart => {
  const pieces = text.split(signs); // words at even indexes, and the signs between them
  const isSeparator = (_: string, index: number) =>
    index % 2 === 1 && pieces[index - 1] !== "" && pieces[index + 1] !== "";
  if (!pieces.some(isSeparator)) return { pieces: [text], pattern: undefined };
  const source = pieces.map((piece, index) => (isSeparator(piece, index) ? signs.source : escapePattern(piece)));
  return {
    pieces: pieces.filter((piece, index) => piece !== "" && !isSeparator(piece, index)),
    pattern: new RegExp(source.join(""), "gu"),
  };
};

/** Query that is compared with folded texts on this device. An empty one matches every text. */
export class FoldedQuery {
  readonly #parts: readonly QueryPart[];

  constructor(query: string) {
    const parts = foldText(query)
      .split(/\s+/)
      .filter((part) => part !== "");
    this.#parts = [...new Set(parts)].map(toQueryPart);
  }

  get isEmpty(): boolean {
    return this.#parts.length === 0;
  }

  /** Whether each part of the query is somewhere in the text, also inside of a word. */
  matches(folded: string): boolean {
    return this.mayMatch(folded) && this.#parts.every(({ pattern }) => !pattern || folded.search(pattern) !== -1);
  }

  /** Whether the pieces of the query are in the text, in any order: a quick test of many texts joined in one. */
  mayMatch(folded: string): boolean {
    return this.#parts.every(({ pieces }) => pieces.every((piece) => folded.includes(piece)));
  }

  /** Places of the parts in the text. */
  *find(folded: string): Iterable<TextSpan> {
    for (const { pieces, pattern } of this.#parts) {
      for (const { 0: found, index } of folded.matchAll(pattern ?? new RegExp(escapePattern(pieces[0] ?? ""), "gu")))
        yield { start: index, end: index + found.length };
    }
  }
}

/** Whether a search on this device finds a text. */
export const createPartMatcher = (query: string): ((text: string) => boolean) => {
  const folded = new FoldedQuery(query);
  return (text) => folded.matches(foldText(text));
};

/**
 * Finds the parts of a query in a text. Both are folded (`foldText`: no case, no accents). Folding changes lengths, so
 * every folded character remembers the span of the original character.
 */
export const findMatches = (text: string, query: string): TextSpan[] => {
  const parts = new FoldedQuery(query);
  if (parts.isEmpty) return [];
  let folded = "";
  const origins: TextSpan[] = [];
  let at = 0;
  for (const char of text) {
    const start = at;
    at += char.length;
    const foldedChar = foldText(char);
    const previous = origins.at(-1);
    // A combining mark extends the span of its base letter.
    if (foldedChar === "" && previous) previous.end = at;
    folded += foldedChar;
    for (let i = 0; i < foldedChar.length; i++) origins.push({ start, end: at });
  }
  const spans: TextSpan[] = [];
  for (const { start, end } of parts.find(folded)) {
    const [first, last] = [origins[start], origins[end - 1]];
    if (first && last) spans.push({ start: first.start, end: last.end });
  }
  return mergeSpans(spans);
};

/** Spans in the order of the text. Overlapping ones become one. */
const mergeSpans = (spans: TextSpan[]): TextSpan[] => {
  const merged: TextSpan[] = [];
  for (const span of spans.sort((a, b) => a.start - b.start)) {
    const last = merged.at(-1);
    if (last && span.start < last.end) last.end = Math.max(last.end, span.end);
    else merged.push(span);
  }
  return merged;
};

const excerptLeadChars = 30; // characters shown before the first match of a long message
const excerptMaxChars = 160;

/** Excerpt of a long message around its first match, with the matches in it. */
export const toExcerpt = (text: string, query: string): { text: string; spans: TextSpan[] } => {
  const first = findMatches(text, query)[0];
  const from = first && text.length > excerptMaxChars ? Math.max(0, first.start - excerptLeadChars) : 0;
  // Do not split a surrogate pair.
  const start = from > 0 && /[\udc00-\udfff]/.test(text.charAt(from)) ? from - 1 : from;
  const cut = (start > 0 ? "…" : "") + text.slice(start, start + excerptMaxChars).replace(/[\ud800-\udbff]$/, "");
  const excerpt = start + excerptMaxChars < text.length ? `${cut}…` : cut;
  return { text: excerpt, spans: findMatches(excerpt, query) };
};

/** Next older (`step` 1) or newer (-1) result, wrapping around at either end. `seqs` is sorted newest first. */
export const findAdjacentResult = (seqs: readonly number[], seq: number, step: 1 | -1): number | undefined => {
  const next = step === 1 ? seqs.find((other) => other < seq) : seqs.findLast((other) => other > seq);
  return next ?? seqs.at(step === 1 ? 0 : -1);
};

/** Position of a result, counted from 1; for one that was removed, the position of its newer neighbour. */
export const toResultNumber = (seqs: readonly number[], seq: number): number =>
  seqs.filter((other) => other >= seq).length;
