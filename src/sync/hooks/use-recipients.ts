import { useMemo } from "react";
import { useSelection } from "#components/people/use-selection.ts";
import { type ConversationId, privateConversationId, type Uuid } from "#contract/ids.ts";
import { multicastMax } from "#contract/limits/messages.ts";
import { useConversations } from "./use-conversations.ts";
import { useContacts } from "./use-people.ts";

/** Recipient of a message: a contact or a group. */
type Recipient = {
  /** Id of the person or group. */
  id: Uuid;
  username: string;
  phone: string;
  avatar: string | null;
  groupId?: string;
  /** Number of members of a group. */
  members?: number;
};

const searchedConversations = 1_000;

/** Contacts and groups that `me` may write to, and those selected of them. */
export const useRecipients = (me: Uuid) => {
  const contacts = useContacts();
  const conversations = useConversations(searchedConversations, "everything");
  const { chosen, toggle, addToSelection } = useSelection();
  const groups = useMemo(
    () =>
      conversations?.flatMap(({ id, group, gone, open }): Recipient[] =>
        group && open && !gone
          ? [{ id, username: group.name, phone: "", avatar: group.picture, groupId: id, members: group.count }]
          : [],
      ),
    [conversations],
  );
  const recipients = useMemo<readonly Recipient[] | undefined>(
    () => groups && contacts && [...contacts.filter(({ blocked }) => blocked === 0), ...groups],
    [groups, contacts],
  );
  const selected = (recipients ?? []).filter(({ id }) => chosen.has(id));
  return {
    /** Properties of the `ContactPicker` that shows them; without people until the store was read. */
    picker: { people: recipients, selected: chosen, onPick: toggle, maxSelected: multicastMax },
    /** Selected ids, also of people and groups who cannot be written to any more. */
    chosen,
    addToSelection,
    selected,
    /** Conversations of the selected recipients who can still be written to. */
    targets: selected.map(
      ({ id, members }): ConversationId => (members === undefined ? privateConversationId(me, id) : id),
    ),
  };
};
