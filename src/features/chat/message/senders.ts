import { useMemo } from "react";
import { getMemberName, listNamedMembers } from "#components/messages/member-names.ts";
import type { AvatarPerson } from "#components/people/avatar-text.ts";
import type { ConversationId, Uuid } from "#contract/ids.ts";
import type { StoredBody } from "#contract/messages/body.ts";
import type { Translate } from "#i18n/setup.ts";
import { useMemberProfiles } from "#sync/hooks/use-member-profiles.ts";
import type { MemberProfiles } from "#sync/store/view-models.ts";

/** Members of a group: the member number of this user, and the loaded profiles of the others by member number. */
export type GroupMembers = { ownNumber: number; profiles: MemberProfiles };

/** Names of the people in a chat. */
export type ChatPeople = {
  /** Display name of the chat: the peer or the group. */
  name: string;
  /** Only in a group. */
  members?: GroupMembers | undefined;
};

/** Display name of the sender of an incoming message. */
export const getSenderName = ({ name, members }: ChatPeople, sender: number | undefined, t: Translate): string =>
  members ? getMemberName(members, sender, t) : name;

/** Sender shown beside a group message; `person` is undefined until the profile is loaded. */
export type GroupSender = { name: string; user: Uuid; number: number | undefined; person: AvatarPerson | undefined };

/** Sender of a group message; undefined in a private chat. */
export const findSender = (people: ChatPeople, sender: number | undefined, t: Translate): GroupSender | undefined => {
  if (!people.members) return undefined;
  const profile = sender === undefined ? undefined : people.members.profiles[sender];
  return {
    name: getSenderName(people, sender, t),
    user: profile?.user ?? "",
    number: sender,
    person: profile && {
      username: profile.name,
      phone: profile.phone,
      avatar: profile.avatar,
      ...(profile.name === "" ? { deleted: 1 } : {}),
    },
  };
};

type MessageWithSender = { body: StoredBody; sender?: number };

const noMessages: readonly MessageWithSender[] = [];

/** Loads the profiles of the senders and of the members named in system messages; undefined for a private chat. */
export const useMentionedMembers = (
  conversation: ConversationId,
  ownNumber: number | undefined,
  messages: readonly MessageWithSender[] = noMessages,
): GroupMembers | undefined => {
  const isGroup = ownNumber !== undefined;
  const numbers = useMemo(
    () => (isGroup ? [...new Set(messages.flatMap(listNamedMembers))].sort((a, b) => a - b) : []),
    [messages, isGroup],
  );
  const profiles = useMemberProfiles(isGroup ? conversation : undefined, numbers);
  return useMemo(() => (ownNumber === undefined ? undefined : { ownNumber, profiles }), [ownNumber, profiles]);
};
