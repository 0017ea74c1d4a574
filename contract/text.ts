import * as v from "valibot";
import { displayNameMaxLength, messageTextMaxLength } from "./limits.ts";
import { isReservedName } from "./reserved-names.ts";

// C0 and C1 controls but tab, line feed and carriage return.
// biome-ignore lint/suspicious/noControlCharactersInRegex: naming them is the point
const controls = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f]/;
// Characters that reorder or hide what stands around them: fine inside a message, which is shown isolated,
// and never in a name, which stands in other people's sentences and by which one is known from another: all format
// characters, the separators of lines, what joins marks, and the letters that are drawn as nothing.
const invisible = /[\p{Cf}\u2028\u2029\u2065\u2800\u3164\uffa0]|\u034f|\u115f|\u1160|\u17b4|\u17b5|[\u180b-\u180f]/u;

// With its joiner, what is joined into one picture with what follows it: families, professions, flags.
const emojiJoiners = /(\p{Extended_Pictographic}[\ufe0f\p{Emoji_Modifier}]*)\u200d(?=\p{Extended_Pictographic})/gu;

const loneSurrogate = /\p{Surrogate}/u;

// Format characters (joiners, marks of direction), the letters that are drawn as nothing, and marks, which need a letter.
const blankCharacters = /[\p{Cf}\p{M}\s\u115f\u1160\u2800\u3164\uffa0]/gu;

/** Nothing to see in it, whatever it is made of. */
export const isBlank = (text: string): boolean => text.replace(blankCharacters, "") === "";

/** Nothing hides in it and nothing reorders what stands beside it. */
const isPlain = (text: string): boolean =>
  !loneSurrogate.test(text) && !controls.test(text) && !invisible.test(text.replace(emojiJoiners, "$1"));

/** One line in which nothing hides and nothing reorders what stands beside it. */
export const isPlainLine = (text: string): boolean => isPlain(text) && !/[\n\r\t]/.test(text);

/** What a person typed, made storable: normal line ends, no control characters, no broken surrogates. */
export const cleanText = (text: string): string =>
  text
    .replace(/\r\n?/g, "\n")
    .replace(new RegExp(controls, "g"), "")
    .replace(new RegExp(loneSurrogate, "gu"), "\ufffd")
    .trim();

/** A message's text. The client cleans before it stores, so that a refusal means a broken client. */
export const MessageText = v.pipe(
  v.string(),
  v.check((text) => !isBlank(text), "empty_message"),
  v.maxLength(messageTextMaxLength, "message_too_long"),
  v.check((text) => !loneSurrogate.test(text) && !controls.test(text), "invalid_text"),
);

// A letter takes at most four places before it is composed: ᾂ is α with three marks.
const decomposedLetterMax = 4;

/**
 * A name other people read: one line, no characters that hide or reorder. Composing sorts the marks of a letter, in the
 * square of their number: what is too long in any case is not composed.
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
export const DisplayName = v.pipe(
  createNameSchema(displayNameMaxLength, "invalid_name"),
  // A longer one is refused already, and comparing takes more than a time in proportion to the length.
  v.check((name) => name.length > displayNameMaxLength || !isReservedName(name), "reserved_name"),
);

/** Why a name is not one: that of the first thing that is wrong with it. */
export const nameProblem = ([issue]: readonly { message: string }[]): "invalid_name" | "reserved_name" =>
  issue?.message === "reserved_name" ? "reserved_name" : "invalid_name";

const marks = /\p{M}/gu;

/**
 * How a search compares: without case and without accents, so that "ete" finds "Été". Marks go before letters are
 * decomposed, too: decomposing sorts those of one letter, in the square of their number.
 */
export const foldText = (text: string): string =>
  text.replace(marks, "").normalize("NFD").replace(marks, "").toLowerCase();
