import { foldText } from "#contract/text.ts";

export type TextSpan = { start: number; end: number };

/**
 * Where a search found its words, as places in the text as written. Both sides are compared the way the
 * server does (`foldText`: without case and accents), which changes lengths, so each folded character
 * remembers which written one it came from.
 */
export const findMatches = (text: string, query: string): TextSpan[] => {
  const wanted = foldText(query);
  if (wanted === "") return [];
  let folded = "";
  const origins: TextSpan[] = [];
  let at = 0;
  for (const char of text) {
    const start = at;
    at += char.length;
    const plain = foldText(char);
    const before = origins.at(-1);
    // A mark belongs to the letter it stands on.
    if (plain === "" && before) before.end = at;
    folded += plain;
    for (let i = 0; i < plain.length; i++) origins.push({ start, end: at });
  }
  const spans: TextSpan[] = [];
  for (let from = folded.indexOf(wanted); from !== -1; from = folded.indexOf(wanted, from + wanted.length)) {
    const [first, last] = [origins[from], origins[from + wanted.length - 1]];
    if (first && last) spans.push({ start: first.start, end: last.end });
  }
  return spans;
};

const excerptLeadChars = 30; // characters shown before the first match of a long message
const excerptMaxChars = 160;

/** The part of a long message around its first match, and the matches within it. */
export const toExcerpt = (text: string, query: string): { text: string; spans: TextSpan[] } => {
  const first = findMatches(text, query)[0];
  const from = first && text.length > excerptMaxChars ? Math.max(0, first.start - excerptLeadChars) : 0;
  // Cutting between the halves of a surrogate pair would show a broken character.
  const start = from > 0 && /[\udc00-\udfff]/.test(text.charAt(from)) ? from - 1 : from;
  const cut = (start > 0 ? "…" : "") + text.slice(start, start + excerptMaxChars).replace(/[\ud800-\udbff]$/, "");
  const excerpt = start + excerptMaxChars < text.length ? `${cut}…` : cut;
  return { text: excerpt, spans: findMatches(excerpt, query) };
};
