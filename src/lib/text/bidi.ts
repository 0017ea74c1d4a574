import { toTextParts } from "#contract/wire/links.ts";

const controlCharacters = /[\u202a-\u202e\u2066-\u2069]/;
const rightToLeftCharacters =
  /[\u0590-\u08ff\u200e\u200f\ufb1d-\ufdff\ufe70-\ufefc\u{10800}-\u{10fff}\u{1e800}-\u{1efff}]/u;
// Letters, and the marks that count as one.
const directedCharacter = /[\p{L}\u061c\u200e\u200f]/u;

const popEmbedding = "\u202c";
const popIsolate = "\u2069";
const isEmbedding = (char: string): boolean => char >= "\u202a" && char <= "\u202e" && char !== popEmbedding;
const isIsolate = (char: string): boolean => char >= "\u2066" && char < popIsolate;

const balanceLine = (line: string): string => {
  const open: string[] = []; // closing character of each open embedding or isolate, innermost last
  let isolates = 0; // number of isolates among them
  let balanced = "";
  for (const char of line) {
    if (isEmbedding(char)) open.push(popEmbedding);
    else if (isIsolate(char)) {
      open.push(popIsolate);
      isolates++;
    } else if (char === popEmbedding) {
      if (open.at(-1) !== popEmbedding) continue;
      open.pop();
    } else if (char === popIsolate) {
      if (isolates === 0) continue;
      while (open.pop() !== popIsolate); // everything opened inside an isolate ends with it
      isolates--;
    }
    balanced += char;
  }
  return balanced + open.reverse().join("");
};

/**
 * Balances the directional formatting characters of user text (Unicode UAX 9): a surplus closing character would escape
 * the element that isolates the text and reorder its surroundings.
 */
export const balanceBidi = (text: string): string =>
  controlCharacters.test(text) ? text.split("\n").map(balanceLine).join("\n") : text;

/** Isolates a name inside a sentence, so that a name of another direction does not reorder the words around it. */
export const isolateBidi = (name: string): string =>
  rightToLeftCharacters.test(name) || controlCharacters.test(name) ? `\u2068${balanceBidi(name)}\u2069` : name;

/** First letter outside links, empty if there is none. It determines the direction of a paragraph (Unicode UAX 9, P2). */
const findFirstLetter = (text: string): string => {
  for (const part of toTextParts(text)) {
    const letter = typeof part === "string" ? directedCharacter.exec(part)?.[0] : undefined;
    if (letter !== undefined) return letter;
  }
  return "";
};

const isRightToLeftLetter = (letter: string): boolean => letter !== "\u200e" && rightToLeftCharacters.test(letter);

/** Whether a text on one line is read from right to left: its first letter outside links decides. */
export const isRightToLeft = (text: string): boolean =>
  rightToLeftCharacters.test(text) && isRightToLeftLetter(findFirstLetter(text));

/**
 * Whether the last paragraph of a text is read from right to left. The browser decides in the same way for each
 * paragraph of an element with `unicode-bidi: plaintext`.
 */
export const endsRightToLeft = (text: string): boolean => isRightToLeft(text.slice(text.lastIndexOf("\n") + 1));
