import { displayNameMaxLength } from "#contract/limits/people.ts";
import { foldText } from "#contract/text.ts";
import type { MemberRow } from "#sync/store/database.ts";

/** Beginning of a mention before the caret: the position of its "@", and the text typed after it. */
export type MentionQuery = { start: number; text: string };

const queryPattern = new RegExp(`(?:^|[^\\p{L}\\p{N}\\p{M}_.@-])@([^@\\n]{0,${displayNameMaxLength}})$`, "u");

export const findMentionQuery = (text: string, caret: number): MentionQuery | undefined => {
  const typed = queryPattern.exec(text.slice(0, caret))?.[1];
  return typed === undefined ? undefined : { start: caret - typed.length - 1, text: typed };
};

/** Choice in the list of members; without a member it mentions everyone. */
export type MentionOption = { name: string; member?: MemberRow; hasNamesake?: boolean };

const optionsMax = 50;

/** Members of whom the name, or a later word of it, starts with a query, whatever the accents and case. */
export const listMentionOptions = (
  members: readonly MemberRow[],
  everyoneName: string | undefined,
  query: string,
): MentionOption[] => {
  const wanted = foldText(query);
  const named = members.filter(({ username }) => username !== "");
  const startsName = ({ username }: MemberRow) => foldText(username).startsWith(wanted);
  const matching = named.filter((member) => startsName(member) || foldText(member.username).includes(` ${wanted}`));
  matching.sort(
    (a, b) =>
      Number(startsName(b)) - Number(startsName(a)) || a.username.localeCompare(b.username) || a.number - b.number,
  );
  const isEveryone = everyoneName !== undefined && foldText(everyoneName).startsWith(wanted);
  return [
    ...(isEveryone ? [{ name: everyoneName }] : []),
    ...matching.slice(0, optionsMax).map((member) => ({
      name: member.username,
      member,
      hasNamesake: named.filter(({ username }) => username === member.username).length > 1,
    })),
  ];
};
