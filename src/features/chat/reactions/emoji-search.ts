import { foldText } from "#contract/text.ts";

/** An emoji with its name and further words to find it by, in the language of the app. */
export type NamedEmoji = { emoji: string; name: string; words: string };

/** Parses "👍 pouce vers le haut|bravo d’accord". */
const toNamedEmoji = (line: string): NamedEmoji => {
  const start = line.indexOf(" ");
  const [name = "", words = ""] = line.slice(start + 1).split("|");
  return { emoji: line.slice(0, start), name, words: foldText(`${name} ${words}`) };
};

export const parseEmojiGroups = (groups: readonly (readonly string[])[]): NamedEmoji[][] =>
  groups.map((lines) => lines.map(toNamedEmoji));

const oneEmoji = "^\\p{RGI_Emoji}$";
/** Whether a text is one emoji. False where the browser cannot tell. */
export const isEmoji = (text: string): boolean => {
  try {
    return new RegExp(oneEmoji, "v").test(text);
  } catch {
    return false;
  }
};

/**
 * Emoji whose words begin with every word of the query, those whose name begins with it first. A query that is an emoji
 * itself, from the keyboard of the device, is found although the list may lack it.
 */
export const searchEmoji = (groups: readonly (readonly NamedEmoji[])[], query: string): NamedEmoji[] => {
  const typed = query.trim();
  if (isEmoji(typed)) return [{ emoji: typed, name: typed, words: "" }];
  const folded = foldText(typed);
  const wanted = folded.split(" ").map((word) => ` ${word}`);
  const found = groups.flat().filter(({ words }) => wanted.every((word) => ` ${words}`.includes(word)));
  const isNamed = ({ words }: NamedEmoji) => words.startsWith(folded);
  return [...found.filter(isNamed), ...found.filter((one) => !isNamed(one))];
};
