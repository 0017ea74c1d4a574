import { useCallback, useMemo } from "react";
import { type ConversationId, privateConversationId, type Uuid } from "#contract/ids.ts";
import { useContacts, useConversations } from "./use-live-query.ts";

/** Whom one message can go to: a contact, or a group with its members. */
type Recipient = {
  /** The person's or the group's. */
  id: Uuid;
  username: string;
  phone: string;
  avatar: string | null;
  /** How many are in a group. */
  members?: number;
};

const searchedConversations = 1_000;

type Recipients = {
  /** Undefined while they are being read. */
  recipients: readonly Recipient[] | undefined;
  /** Of these, the conversations of those who still can be written to. */
  toConversationIds: (chosen: ReadonlySet<Uuid>) => ConversationId[];
};

/** The contacts and groups that `me` may write to. */
export const useRecipients = (me: Uuid): Recipients => {
  const contacts = useContacts();
  const conversations = useConversations(searchedConversations);
  const groups = useMemo(
    () =>
      conversations?.flatMap(({ id, group, gone, open }): Recipient[] =>
        group && open && !gone
          ? [{ id, username: group.name, phone: "", avatar: group.picture, members: group.count }]
          : [],
      ),
    [conversations],
  );
  const recipients = useMemo<readonly Recipient[] | undefined>(
    () => groups && contacts && [...contacts.filter(({ blocked }) => blocked === 0), ...groups],
    [groups, contacts],
  );
  const conversationsOf = useCallback(
    (chosen: ReadonlySet<Uuid>) =>
      (recipients ?? [])
        .filter(({ id }) => chosen.has(id))
        .map(({ id, members }) => (members === undefined ? privateConversationId(me, id) : id)),
    [recipients, me],
  );
  return { recipients, toConversationIds: conversationsOf };
};
