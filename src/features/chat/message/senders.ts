import { useMemo } from "react";
import { getMemberName } from "#components/messages/member-names.ts";
import type { AvatarPerson } from "#components/people/avatar.tsx";
import type { StoredBody } from "#contract/conversations.ts";
import type { ConversationId, Uuid } from "#contract/ids.ts";
import type { Translate } from "#i18n/setup.ts";
import { useMemberProfiles } from "#sync/hooks/use-live-query.ts";
import { listNamedMembers } from "#sync/queries/queries.ts";
import type { MemberProfiles } from "#sync/store/view-models.ts";

/** Those in a group: my own number, and who is behind the others as far as it is known here. */
export type GroupMembers = { ownNumber: number; authors: MemberProfiles };

/** Who is in a chat, as its lines name them. */
export type ChatPeople = {
  /** What the chat is called: the other person's name, or the group's. */
  name: string;
  /** Of a group. */
  members?: GroupMembers | undefined;
};

/** How the sender of what is not mine is called. */
export const getSenderName = ({ name, members }: ChatPeople, sender: number | undefined, t: Translate): string =>
  members ? getMemberName(members, sender, t) : name;

/** Who wrote a message in a group, as shown beside it; `person` is undefined while this phone does not know them. */
export type GroupSender = { name: string; user: Uuid; number: number | undefined; person: AvatarPerson | undefined };

export const findSender = (people: ChatPeople, sender: number | undefined, t: Translate): GroupSender | undefined => {
  if (!people.members) return undefined;
  const author = sender === undefined ? undefined : people.members.authors[sender];
  return {
    name: getSenderName(people, sender, t),
    user: author?.user ?? "",
    number: sender,
    person: author && {
      username: author.name,
      phone: author.phone,
      avatar: author.avatar,
      ...(author.name === "" ? { deleted: 1 } : {}),
    },
  };
};

type MessageWithSender = { body: StoredBody; sender?: number };

const noMessages: readonly MessageWithSender[] = [];

/** Names those who wrote these messages of a group, and those of whom its lines tell; undefined for a private chat. */
export const useMentionedMembers = (
  conversation: ConversationId,
  own: number | undefined,
  messages: readonly MessageWithSender[] = noMessages,
): GroupMembers | undefined => {
  const isGroup = own !== undefined;
  const numbers = useMemo(
    () => (isGroup ? [...new Set(messages.flatMap(listNamedMembers))].sort((a, b) => a - b) : []),
    [messages, isGroup],
  );
  const authors = useMemberProfiles(isGroup ? conversation : undefined, numbers);
  return useMemo(() => (own === undefined ? undefined : { ownNumber: own, authors }), [own, authors]);
};
