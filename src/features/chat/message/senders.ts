import { useMemo } from "react";
import { nameOfMember } from "#components/messages/member-names.ts";
import type { AvatarPerson } from "#components/people/avatar.tsx";
import type { StoredBody } from "#contract/conversations.ts";
import type { ConversationId, Uuid } from "#contract/ids.ts";
import type { Translate } from "#i18n/setup.ts";
import { useAuthors } from "#sync/hooks/use-live-query.ts";
import { namedIn } from "#sync/queries/queries.ts";
import type { Authors } from "#sync/store/views.ts";

/** Those in a group: my own number, and who is behind the others as far as it is known here. */
export type Members = { own: number; authors: Authors };

/** Who is in a chat, as its lines name them. */
export type ChatPeople = {
  /** What the chat is called: the other person's name, or the group's. */
  name: string;
  /** Of a group. */
  members?: Members | undefined;
};

/** How the sender of what is not mine is called. */
export const nameOfSender = ({ name, members }: ChatPeople, sender: number | undefined, t: Translate): string =>
  members ? nameOfMember(members, sender, t) : name;

/** Who wrote a message in a group, as shown beside it; `person` is undefined while this phone does not know them. */
export type Writer = { name: string; user: Uuid; number: number | undefined; person: AvatarPerson | undefined };

export const writerOf = (people: ChatPeople, sender: number | undefined, t: Translate): Writer | undefined => {
  if (!people.members) return undefined;
  const author = sender === undefined ? undefined : people.members.authors[sender];
  return {
    name: nameOfSender(people, sender, t),
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

type Named = { body: StoredBody; sender?: number };

const nothing: readonly Named[] = [];

/** Names those who wrote these messages of a group, and those of whom its lines tell; undefined for a private chat. */
export const useMembersOf = (
  conversation: ConversationId,
  own: number | undefined,
  messages: readonly Named[] = nothing,
): Members | undefined => {
  const isGroup = own !== undefined;
  const numbers = useMemo(
    () => (isGroup ? [...new Set(messages.flatMap(namedIn))].sort((a, b) => a - b) : []),
    [messages, isGroup],
  );
  const authors = useAuthors(isGroup ? conversation : undefined, numbers);
  return useMemo(() => (own === undefined ? undefined : { own, authors }), [own, authors]);
};
