import type { StoredBody, Tombstone } from "#contract/messages/body.ts";
import { formatList } from "#i18n/format.ts";
import type { Translate } from "#i18n/setup.ts";
import { isolateBidi } from "#lib/text/bidi.ts";

/** Names for the members of a group: the member number of this user, and the loaded profiles by member number. */
export type MemberNames = { ownNumber: number; profiles: Readonly<Partial<Record<number, { name: string }>>> };

/** Names for a group conversation; undefined for a private one. */
export const toMemberNames = ({
  group,
  memberProfiles,
}: {
  group: { number: number } | null;
  memberProfiles: MemberNames["profiles"];
}): MemberNames | undefined => (group ? { ownNumber: group.number, profiles: memberProfiles } : undefined);

/** Member numbers a message names: its sender, for a group event those it is about, and the owner who deleted it. */
export const listNamedMembers = ({
  body,
  sender,
}: {
  body: StoredBody | null | undefined;
  sender?: number | undefined;
}): number[] => [
  ...(sender === undefined ? [] : [sender]),
  ...(body?.type === "event" ? (body.who ?? []) : []),
  ...(body?.type === "deleted" && body.by !== undefined ? [body.by] : []),
];

/** Display name of a member; a generic word until the profile is loaded. */
export const getMemberName = (
  { ownNumber, profiles }: MemberNames,
  number: number | undefined,
  t: Translate,
): string => {
  if (number === ownNumber) return t("common.you");
  const profile = number === undefined ? undefined : profiles[number];
  return profile ? profile.name || t("common.deletedAccount") : t("groups.chat.someone");
};

/** Name of the group's owner, if they deleted the message and their name is loaded. */
export const describeDeleter = (
  { by }: Tombstone,
  names: MemberNames | undefined,
  t: Translate,
): string | undefined => {
  if (by === undefined || !names) return undefined;
  if (by === names.ownNumber) return t("messages.deletedByMe");
  return names.profiles[by] && t("messages.deletedBy", { name: isolateBidi(getMemberName(names, by, t)) });
};

/** Shortens a name to the first whole words that fit, or cuts a long first word. */
export const shortenName = (name: string, maxChars: number): string => {
  const chars = [...name];
  if (chars.length <= maxChars) return name;
  const start = chars.slice(0, maxChars + 1).join("");
  const words = start.slice(0, start.lastIndexOf(" ")).trimEnd();
  return start.includes(" ") && words !== "" ? words : `${chars.slice(0, maxChars - 1).join("")}…`;
};

const namedMembersMax = 5;

/** List of members for a sentence: up to `namedMembersMax` loaded names, and the number of the others. */
export const formatMemberList = (names: MemberNames, numbers: readonly number[], t: Translate): string => {
  const listable = numbers.filter(
    (number) => numbers.length === 1 || number === names.ownNumber || names.profiles[number],
  );
  const named = listable.length > namedMembersMax + 1 ? listable.slice(0, namedMembersMax) : listable;
  const words = named.map((number) =>
    number === names.ownNumber ? t("groups.events.you") : isolateBidi(getMemberName(names, number, t)),
  );
  const count = numbers.length - named.length;
  return formatList(count > 0 ? [...words, t("groups.events.others", { count })] : words);
};

const typistNameChars = 14;

/** Text that names the people who type in a group, in the order they started. Undefined if no name is loaded. */
export const describeTyping = (names: MemberNames, typists: readonly number[], t: Translate): string | undefined => {
  if (typists.length > 2) return t("groups.chat.manyType", { count: typists.length });
  const [first, second] = typists.filter((number) => names.profiles[number]);
  if (first === undefined) return undefined;
  const toShortName = (number: number) => isolateBidi(shortenName(getMemberName(names, number, t), typistNameChars));
  const name = toShortName(first);
  if (second === undefined) return t("chat.isTyping", { name });
  return t("groups.chat.twoType", { name, other: toShortName(second) });
};
