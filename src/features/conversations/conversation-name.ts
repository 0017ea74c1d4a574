import type { MemberNames } from "#components/messages/member-names.ts";
import { type AvatarPerson, toAvatarPerson } from "#components/people/avatar.tsx";
import { toDisplayName } from "#components/people/person-name.ts";
import type { Translate } from "#i18n/setup.ts";
import type { ConversationListItem } from "#sync/hooks/use-live-query.ts";

/** What a conversation is called in the list. */
export const getConversationName = ({ kind, group, person }: ConversationListItem, t: Translate): string => {
  if (kind === "group") return group?.name ?? t("groups.chat.isGroup");
  return toDisplayName(person, t);
};

const unknownPerson: AvatarPerson = { username: "", phone: "", avatar: null };

/** Who or what its picture shows. */
export const toConversationAvatar = ({ group, person }: ConversationListItem): AvatarPerson =>
  group ? toAvatarPerson(group) : (person ?? unknownPerson);

/** By whom the last line of a group's entry names its members; undefined for a private one. */
export const toMemberNames = ({ group, memberProfiles }: ConversationListItem): MemberNames | undefined =>
  group ? { ownNumber: group.number, authors: memberProfiles } : undefined;
