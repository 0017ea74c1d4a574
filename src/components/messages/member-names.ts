import { formatList } from "#i18n/format.ts";
import type { Translate } from "#i18n/setup.ts";
import { isolateBidi } from "#lib/text/bidi.ts";

/** By whom the lines of a group name its members: my own number, and who is behind the others as far as it is known. */
export type MemberNames = { ownNumber: number; authors: Readonly<Partial<Record<number, { name: string }>>> };

/** How a member is called; one whom this phone does not know yet by a word that fits everybody. */
export const getMemberName = (
  { ownNumber, authors }: MemberNames,
  number: number | undefined,
  t: Translate,
): string => {
  if (number === ownNumber) return t("common.you");
  const author = number === undefined ? undefined : authors[number];
  return author ? author.name || t("common.deletedAccount") : t("groups.chat.someone");
};

/** A name within a line that is short of room: its first words that fit. */
export const shortenName = (name: string, lettersMax: number): string => {
  const letters = [...name];
  if (letters.length <= lettersMax) return name;
  const start = letters.slice(0, lettersMax + 1).join("");
  const words = start.slice(0, start.lastIndexOf(" ")).trimEnd();
  return start.includes(" ") && words !== "" ? words : `${letters.slice(0, lettersMax - 1).join("")}…`;
};

const namedMembersMax = 5;

/** Members within a sentence: of several a few whom this phone knows by name, of the others the number. */
export const formatMemberList = (names: MemberNames, numbers: readonly number[], t: Translate): string => {
  const known = numbers.filter((number) => numbers.length === 1 || number === names.ownNumber || names.authors[number]);
  const named = known.length > namedMembersMax + 1 ? known.slice(0, namedMembersMax) : known;
  const words = named.map((number) =>
    number === names.ownNumber ? t("groups.events.you") : isolateBidi(getMemberName(names, number, t)),
  );
  const count = numbers.length - named.length;
  return formatList(count > 0 ? [...words, t("groups.events.others", { count })] : words);
};

const typistNameChars = 14;

/** Who types in a group, the first to begin first; undefined while nobody does whose name is known, as it is in a moment. */
export const describeTyping = (names: MemberNames, typists: readonly number[], t: Translate): string | undefined => {
  if (typists.length > 2) return t("groups.chat.manyType", { count: typists.length });
  const [first, second] = typists.filter((number) => names.authors[number]);
  if (first === undefined) return undefined;
  const nameOf = (number: number) => isolateBidi(shortenName(getMemberName(names, number, t), typistNameChars));
  const name = nameOf(first);
  if (second === undefined) return t("chat.isTyping", { name });
  return t("groups.chat.twoType", { name, other: nameOf(second) });
};
