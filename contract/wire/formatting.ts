import { trimTrailingPunctuation, webAddress } from "./links.ts";

/** Formats that a person writes with markers: *bold*, _italic_, ~strikethrough~ and `code`. */
export type Format = "bold" | "italic" | "strikethrough" | "code";

/** Piece of a text: the characters from `start` to `end`, or formatted pieces without their markers. */
export type FormattedPart = { start: number; end: number; format?: Format; parts?: FormattedPart[] };

/** Characters that are not searched for markers, such as the name in a mention. */
type ProtectedRange = readonly [start: number, end: number];

const formatByMarker: Readonly<Record<string, Format>> = { "*": "bold", _: "italic", "~": "strikethrough" };
const anyMarker = /[*_~`]|^- /m;
const codeSpan = /`[^`\n]+`/g;
/**
 * Pieces whose marks are no format, after what precedes them: web addresses, paths such as C:\_x_\*.txt, and service
 * codes such as *144*1#.
 */
const unformatted = new RegExp(
  [
    `()(${webAddress})`,
    String.raw`(^|[\s(«"])((?:[\p{L}\p{N}.][^\s/\\(«"]*|~)?[/\\]\S*)`,
    String.raw`(^|[^\p{L}\p{N}*#])([*#]{1,2}\d[\p{L}\d*#]*#)`,
  ].join("|"),
  "giu",
);
const listItem = /^- /gm;
const wordChar = /[\p{L}\p{M}\p{N}]/u;
/** Digits and signs alone are an amount or a code, whose marks must be read: *150* is dialled with its stars. */
const formattable = /[\p{L}\p{Extended_Pictographic}]/u;

const listBullet = "• ";

const isWordChar = (char: string): boolean => wordChar.test(char);

/**
 * Splits a text into formatted pieces. A single marker opens at the beginning of a word and closes at the end of one in
 * the same line, around at least one letter; code, links and paths contain no other markers. The time is proportional
 * to the length.
 */
class FormatParser {
  readonly #text: string;
  /** Ends of the ranges without markers, by their starts. */
  readonly #skippedRanges = new Map<number, number>();
  readonly #codeStarts = new Set<number>();

  constructor(text: string, protectedRanges: readonly ProtectedRange[]) {
    this.#text = text;
    for (const [start, end] of protectedRanges) this.#skippedRanges.set(start, end);
    for (const match of text.matchAll(unformatted)) {
      const [before = "", piece = ""] = match.slice(1).filter((group) => group !== undefined);
      const start = match.index + before.length;
      this.#skippedRanges.set(start, start + trimTrailingPunctuation(piece).length);
    }
    for (const { 0: code, index } of text.matchAll(codeSpan)) {
      if (code.slice(1, -1).trim() === "") continue;
      this.#skippedRanges.set(index, index + code.length);
      this.#codeStarts.add(index);
    }
  }

  parse(start = 0, end = this.#text.length): FormattedPart[] {
    const parts: FormattedPart[] = [];
    let plainStart = start;
    const addPlain = (until: number) => {
      if (until > plainStart) parts.push({ start: plainStart, end: until });
    };
    /** Ends of the lines in which a marker is known not to be closed. */
    const unclosedUntil: Record<string, number> = {};
    for (let at = start; at < end; ) {
      const skipped = this.#skippedRanges.get(at);
      if (this.#codeStarts.has(at) && skipped !== undefined && skipped <= end) {
        addPlain(at);
        parts.push({ start: at, end: skipped, format: "code", parts: [{ start: at + 1, end: skipped - 1 }] });
        plainStart = skipped;
      }
      if (skipped !== undefined) {
        at = skipped;
        continue;
      }
      const marker = this.#text.charAt(at);
      const format = formatByMarker[marker];
      if (format && at >= (unclosedUntil[marker] ?? 0) && this.#isOpening(at, start)) {
        const close = this.#findClosing(marker, at + 1, end);
        if (close.isFound && !formattable.test(this.#text.slice(at + 1, close.at))) {
          at = close.at + 1;
          continue;
        }
        if (close.isFound) {
          addPlain(at);
          const inner = this.parse(at + 1, close.at);
          parts.push({ start: at, end: close.at + 1, format, parts: inner });
          at = plainStart = close.at + 1;
          continue;
        }
        unclosedUntil[marker] = close.at;
      }
      at++;
    }
    addPlain(end);
    return parts;
  }

  #isOpening(at: number, start: number): boolean {
    const before = at === start ? "" : this.#text.charAt(at - 1);
    const after = this.#text.charAt(at + 1);
    const marker = this.#text.charAt(at);
    return !isWordChar(before) && before !== marker && after !== "" && !/\s/.test(after) && after !== marker;
  }

  /** Position of the marker that closes, or of the end of the line. */
  #findClosing(marker: string, from: number, end: number): { isFound: boolean; at: number } {
    for (let at = from; at < end; ) {
      const skipped = this.#skippedRanges.get(at);
      if (skipped !== undefined) {
        at = skipped;
        continue;
      }
      const char = this.#text.charAt(at);
      if (char === "\n") return { isFound: false, at };
      const after = at + 1 < end ? this.#text.charAt(at + 1) : "";
      const before = at > from ? this.#text.charAt(at - 1) : " ";
      const isAtWordEnd = !/\s/.test(before) && before !== marker && !isWordChar(after) && after !== marker;
      if (char === marker && isAtWordEnd) return { isFound: true, at };
      at++;
    }
    return { isFound: false, at: end };
  }
}

/** Pieces of a text in their order; a text without markers is one piece. */
export const parseFormatting = (text: string, protectedRanges: readonly ProtectedRange[] = []): FormattedPart[] =>
  anyMarker.test(text) ? new FormatParser(text, protectedRanges).parse() : [{ start: 0, end: text.length }];

/** Text of a piece as it is shown: hyphens of list items are bullets. Its length is unchanged. */
export const toShownText = (text: string, { start, end }: Pick<FormattedPart, "start" | "end">): string =>
  text
    .slice(start, end)
    .replace(listItem, (item, index: number) =>
      index > 0 || start === 0 || text.charAt(start - 1) === "\n" ? listBullet : item,
    );

const joinText = (text: string, parts: readonly FormattedPart[]): string =>
  parts.map((part) => (part.parts ? joinText(text, part.parts) : text.slice(part.start, part.end))).join("");

/** Text without markers, for previews and notifications. */
export const removeFormatting = (text: string): string => joinText(text, parseFormatting(text));
