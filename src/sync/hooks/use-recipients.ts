import { useCallback, useMemo } from "react";
import { type ConversationId, privateConversationId, type Uuid } from "#contract/ids.ts";
import { useConversations } from "./use-conversations.ts";
import { useContacts } from "./use-people.ts";

/** Recipient of a message: a contact or a group. */
type Recipient = {
  /** Id of the person or group. */
  id: Uuid;
  username: string;
  phone: string;
  avatar: string | null;
  /** Number of members of a group. */
  members?: number;
};

const searchedConversations = 1_000;

type Recipients = {
  /** Undefined until the store was read. */
  recipients: readonly Recipient[] | undefined;
  /** Conversations of the selected recipients who can still be written to. */
  toConversationIds: (selected: ReadonlySet<Uuid>) => ConversationId[];
};

/** Contacts and groups that `me` may write to. */
export const useRecipients = (me: Uuid): Recipients => {
  const contacts = useContacts();
  const conversations = useConversations(searchedConversations, "everything");
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
    (selected: ReadonlySet<Uuid>) =>
      (recipients ?? [])
        .filter(({ id }) => selected.has(id))
        .map(({ id, members }) => (members === undefined ? privateConversationId(me, id) : id)),
    [recipients, me],
  );
  return { recipients, toConversationIds: conversationsOf };
};
