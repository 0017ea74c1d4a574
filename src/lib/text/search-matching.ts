import { foldText, toWordPatterns } from "#contract/text.ts";

export type TextSpan = { start: number; end: number };

/**
 * Finds the words of a query at the beginnings of the words of a text. Both sides are folded as on the server
 * (`foldText`: no case, no accents). Folding changes lengths, so every folded character remembers the span of the
 * original character.
 */
export const findMatches = (text: string, query: string): TextSpan[] => {
  const patterns = toWordPatterns(query);
  if (patterns.length === 0) return [];
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
  for (const pattern of patterns) {
    for (const { 0: found, 1: preceding = "", index } of folded.matchAll(pattern)) {
      const [first, last] = [origins[index + preceding.length], origins[index + found.length - 1]];
      if (first && last) spans.push({ start: first.start, end: last.end });
    }
  }
  return mergeSpans(spans);
};

/** Spans in the order of the text. Of spans that begin at the same place only the longest remains. */
const mergeSpans = (spans: TextSpan[]): TextSpan[] =>
  spans
    .sort((a, b) => a.start - b.start || b.end - a.end)
    .filter(({ start }, index, sorted) => start >= (sorted[index - 1]?.end ?? 0));

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
