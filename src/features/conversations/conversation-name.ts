import type { MemberNames } from "#components/messages/member-names.ts";
import { type AvatarPerson, groupAsPerson } from "#components/people/avatar.tsx";
import { nameOfPerson } from "#components/people/person-name.ts";
import type { Translate } from "#i18n/setup.ts";
import type { ConversationListItem } from "#sync/hooks/use-live-query.ts";

/** What a conversation is called in the list. */
export const nameOfConversation = ({ kind, group, person }: ConversationListItem, t: Translate): string => {
  if (kind === "group") return group?.name ?? t("groups.chat.isGroup");
  return nameOfPerson(person, t);
};

const nobody: AvatarPerson = { username: "", phone: "", avatar: null };

/** Who or what its picture shows. */
export const faceOf = ({ group, person }: ConversationListItem): AvatarPerson =>
  group ? groupAsPerson(group) : (person ?? nobody);

/** By whom the last line of a group's entry names its members; undefined for a private one. */
export const namesIn = ({ group, authors }: ConversationListItem): MemberNames | undefined =>
  group ? { own: group.number, authors } : undefined;
