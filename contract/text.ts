import * as v from "valibot";
import { messageTextMaxLength } from "./limits/messages.ts";

// C0 and C1 control characters except tab, line feed and carriage return.
// biome-ignore lint/suspicious/noControlCharactersInRegex: naming them is the point
const controls = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f]/;
// Characters without a glyph, and those that reorder their surroundings: allowed in messages, which are displayed
// isolated, and forbidden in names, which appear in sentences and identify people.
const hidden = String.raw`\p{Default_Ignorable_Code_Point}\p{Cf}\u2028\u2029\u2800\ufffc\u{1d159}`;
// Letters whose shapes depend on a joiner or non-joiner between them (Unicode UAX 31, section 2.3).
const joiningScripts = "Arab Syrc Nkoo Adlm Mong Deva Beng Guru Gujr Orya Taml Telu Knda Mlym Sinh".split(" ");
const joiningLetter = `(?![${hidden}])[\\u064b-\\u0655\\u0670${joiningScripts.map((script) => `\\p{sc=${script}}`).join("")}]`;
/** Sequences that need their hidden characters. */
const joinedSequence = [
  String.raw`\u{1f3f4}[\u{e0030}-\u{e0039}\u{e0061}-\u{e007a}]+\u{e007f}`, // flag of a region
  String.raw`\p{Extended_Pictographic}[\ufe0e\ufe0f]?\p{Emoji_Modifier}?(?:\u200d\p{Extended_Pictographic}\ufe0f?\p{Emoji_Modifier}?)*`,
  String.raw`[0-9#*]\ufe0f\u20e3`, // keycap
  String.raw`${joiningLetter}[\u200c\u200d](?=${joiningLetter})`,
  String.raw`(?![${hidden}])\p{sc=Mong}[\u180b-\u180d\u180f]|\p{sc=Han}[\ufe00-\ufe02\u{e0100}-\u{e01ef}]`, // variants of letters
].join("|");
const hiddenOrJoined = new RegExp(`(${joinedSequence})|[${hidden}]`, "gu");
/** Removes hidden characters that change no visible one. */
const removeHidden = (text: string): string => text.replace(hiddenOrJoined, "$1");

const loneSurrogate = /\p{Surrogate}/u;

// Combining marks need a base letter.
const blankCharacters = new RegExp(String.raw`[${hidden}\p{M}\s]`, "gu");

/** Whether a text has no visible character. */
export const isBlank = (text: string): boolean => text.replace(blankCharacters, "") === "";

/** Whether a text has no hidden or reordering characters. */
const isPlain = (text: string): boolean =>
  !loneSurrogate.test(text) && !controls.test(text) && removeHidden(text) === text;

const lineBreaks = /[\n\r\t\u2028\u2029]+/g;

/** Whether a text is a single line without hidden or reordering characters. */
export const isPlainLine = (text: string): boolean => isPlain(text) && !/[\n\r\t]/.test(text);

/** Any text as one that `isPlainLine` accepts: line breaks and tabs become spaces. */
export const toPlainLine = (text: string): string =>
  removeHidden(
    text.replace(lineBreaks, " ").replace(new RegExp(controls, "g"), "").replace(new RegExp(loneSurrogate, "gu"), ""),
  );

/** Normalizes typed text for storage: line ends, control characters and lone surrogates. */
export const cleanText = (text: string): string =>
  text
    .replace(/\r\n?/g, "\n")
    .replace(new RegExp(controls, "g"), "")
    .replace(new RegExp(loneSurrogate, "gu"), "\ufffd")
    .trim();

const isDigit = (text: string): boolean => /^\p{Nd}$/u.test(text);

/**
 * Text with the digits of every script as ASCII digits. A script's digits follow one another from 0 to 9 (Unicode
 * Standard, chapter 4.6), so those in front of a digit say what it is worth.
 */
export const toAsciiDigits = (text: string): string =>
  text.replace(/(?!\d)\p{Nd}/gu, (digit) => {
    const code = digit.codePointAt(0) ?? 0;
    let value = 0;
    while (value < 9 && isDigit(String.fromCodePoint(code - value - 1))) value++;
    return String(value);
  });

/** Text of a message. The client cleans it before storing, so a refusal indicates a broken client. */
export const MessageText = v.pipe(
  v.string(),
  v.check((text) => !isBlank(text), "empty_message"),
  v.maxLength(messageTextMaxLength, "message_too_long"),
  v.check((text) => !loneSurrogate.test(text) && !controls.test(text), "invalid_text"),
);

// A letter has at most four code units before composition: ᾂ is α with three marks.
const decomposedLetterMax = 4;

/**
 * Schema of a name that other people read: one line without hidden or reordering characters. Composition sorts
 * combining marks in quadratic time, so names that are too long anyway are not composed.
 */
export const createNameSchema = (maxLength: number, refusal: "invalid_name" | "invalid_group_name") =>
  v.pipe(
    v.string(),
    v.transform((name) => name.trim().replace(/\s+/g, " ")),
    v.transform((name) => (name.length > decomposedLetterMax * maxLength ? name : name.normalize("NFC"))),
    v.check((name) => !isBlank(name), refusal),
    v.maxLength(maxLength, refusal),
    v.check(isPlain, refusal),
  );

const marks = /\p{M}/gu;
export const nonAscii = /[\u0080-\uffff]+/g;

// Open vowels of Lingala and French ligatures, which many keyboards lack: people write "mosolo" for "mɔsɔlɔ" and
// "coeur" for "cœur".
const replacements: Readonly<Record<string, string>> = {
  ...{ ɛ: "e", ɔ: "o", Ɛ: "E", Ɔ: "O" },
  ...{ œ: "oe", æ: "ae", Œ: "OE", Æ: "AE" },
};

/** Removes accents and other marks, and the difference of open vowels. */
export const removeMarks = (text: string): string =>
  text
    .replace(marks, "")
    .normalize("NFD")
    .replace(marks, "")
    .replace(/[ɛɔƐƆœæŒÆ]/g, (letter) => replacements[letter] ?? letter);

/**
 * Folds case, accents, ligatures and the open vowels of Lingala for a search, so that "ete" finds "Été". Only what is
 * not ASCII is decomposed, which makes a search through French messages twice as fast and through ASCII ten times.
 * Marks are also removed before decomposition, which sorts the marks of a letter in quadratic time.
 */
export const foldText = (text: string): string => text.replace(nonAscii, removeMarks).toLowerCase();

const wordMaxLength = 40; // UTF-16 units; longer words are compared by their beginning
const wordPattern = /[\p{L}\p{N}]+|\p{Extended_Pictographic}/gu;

/** Words of a text as a search compares them: folded, each once (`docs/decisions/search.md`). An emoji is a word. */
export const toSearchWords = (text: string): string[] => [
  ...new Set(
    foldText(text)
      .match(wordPattern)
      ?.map((word) => word.slice(0, wordMaxLength)),
  ),
];

/** Pattern of a word at the beginning of one. Words have no characters with a meaning in a pattern. */
const toWordPattern = (word: string): RegExp =>
  /^\p{Extended_Pictographic}/u.test(word) ? new RegExp(word, "u") : new RegExp(`(?:^|[^\\p{L}\\p{N}])${word}`, "u");

/**
 * Whether each word of a query begins a word of the text, as the index of the server finds it. A query without words
 * matches none.
 */
export const createSearchMatcher = (query: string): ((text: string) => boolean) => {
  const words = toSearchWords(query);
  const patterns = words.map(toWordPattern);
  if (words.length === 0) return () => false;
  return (text) => {
    const folded = foldText(text);
    return words.every((word) => folded.includes(word)) && patterns.every((pattern) => pattern.test(folded));
  };
};
