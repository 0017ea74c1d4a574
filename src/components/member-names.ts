import { formatList } from "../i18n/format";
import type { Translate } from "../i18n/setup";
import { isolate } from "../lib/isolate";

/** By whom the lines of a group name its members: my own number, and who is behind the others as far as it is known. */
export type MemberNames = { own: number; authors: Readonly<Partial<Record<number, { name: string }>>> };

/** How a member is called; one whom this phone does not know yet by a word that fits everybody. */
export const nameOfMember = ({ own, authors }: MemberNames, number: number | undefined, t: Translate): string => {
  if (number === own) return t("common.you");
  const author = number === undefined ? undefined : authors[number];
  return author ? author.name || t("groups.page.deletedAccount") : t("groups.chat.someone");
};

const namedMax = 5;

/** Several members within a sentence: a few by name, of more the number. */
export const listMembers = (names: MemberNames, numbers: readonly number[], t: Translate): string => {
  const named = numbers.length > namedMax + 1 ? numbers.slice(0, namedMax) : numbers;
  const words = named.map((number) =>
    number === names.own ? t("groups.events.you") : isolate(nameOfMember(names, number, t)),
  );
  const count = numbers.length - named.length;
  return formatList(count > 0 ? [...words, t("groups.events.others", { count })] : words);
};

/** Who types in a group, the first to begin first; undefined while nobody does. */
export const describeTyping = (names: MemberNames, typists: readonly number[], t: Translate): string | undefined => {
  const [first, second] = typists;
  if (first === undefined) return undefined;
  if (typists.length > 2) return t("groups.chat.manyType", { count: typists.length });
  const name = isolate(nameOfMember(names, first, t));
  if (second === undefined) return t("chat.isTyping", { name });
  return t("groups.chat.twoType", { name, other: isolate(nameOfMember(names, second, t)) });
};
