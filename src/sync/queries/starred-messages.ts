import type { ConversationId, Uuid } from "#contract/ids.ts";
import { hasContent } from "#contract/messages/kinds.ts";
import { fetchQuotedMessage } from "#sync/inbound/quoted-message.ts";
import type { LocalConversationRow, LocalMessageRow, LocalStore, PersonRow } from "#sync/store/database.ts";
import { readMemberProfiles } from "#sync/store/members.ts";
import { listStars } from "#sync/store/message-flags.ts";
import type { SyncContext } from "#sync/store/sync-context.ts";
import type { SyncPort } from "#sync/store/sync-port.ts";
import type { MemberProfile } from "#sync/store/view-models.ts";

/** Starred message with its conversation. `message` is absent while this device does not have it. */
export type StarredMessage = {
  conversation: ConversationId;
  seq: number;
  message: Pick<LocalMessageRow, "body" | "mine" | "at"> | undefined;
  group: LocalConversationRow["group"];
  peer: Uuid | undefined;
  /** Whether the newest messages of the conversation are on this device, so that an older one can be stored. */
  isPageable: boolean;
  person: PersonRow | undefined;
  /** Sender in a group. */
  sender: MemberProfile | undefined;
};

/** `hasMore`: further ones follow after `limit`. */
export type StarredMessages = { messages: StarredMessage[]; hasMore: boolean };

const toStarredMessage = async (
  store: LocalStore,
  me: Uuid,
  row: LocalConversationRow,
  message: LocalMessageRow | undefined,
  seq: number,
): Promise<StarredMessage> => {
  const [person, profiles] = await Promise.all([
    row.peer === undefined ? undefined : store.people.get(row.peer),
    row.group && message ? readMemberProfiles(store, me, row.id, [message.sender]) : undefined,
  ]);
  const sender = message && profiles?.[message.sender];
  return {
    conversation: row.id,
    seq,
    message,
    group: row.group,
    peer: row.peer,
    isPageable: row.storedFrom <= row.storedTo,
    person,
    sender,
  };
};

/** Starred messages of all conversations or of one, the last one first, without deleted and cleared ones. */
export const readStarredMessages = (
  context: Pick<SyncContext, "store" | "unsent" | "me">,
  conversation: ConversationId | undefined,
  limit: number,
): Promise<StarredMessages> => {
  const { store, me } = context;
  return store.transaction(
    "r",
    [store.meta, store.conversations, store.messages, store.people, store.members],
    async () => {
      const stars = await listStars(context, conversation);
      const ids = [...new Set(stars.map((star) => star.conversation))];
      const rows = new Map(
        (await store.conversations.bulkGet(ids)).flatMap((row) => (row ? [[row.id, row] as const] : [])),
      );
      const visible = stars
        .filter((star) => {
          const row = rows.get(star.conversation);
          return row && !row.gone && star.seq > row.hidden;
        })
        .sort((a, b) => b.at - a.at);
      const stored = await store.messages.bulkGet(
        visible.map((star): [string, number] => [star.conversation, star.seq]),
      );
      const shown = visible.flatMap(({ conversation: id, seq }, index) => {
        const [row, message] = [rows.get(id), stored[index]];
        return row && (!message || hasContent(message.body)) ? [{ row, message, seq }] : [];
      });
      const page = shown.slice(0, limit);
      const messages = await Promise.all(
        page.map(({ row, message, seq }) => toStarredMessage(store, me, row, message, seq)),
      );
      return { messages, hasMore: shown.length > limit };
    },
  );
};

/** Fetches starred messages that this device does not have, and stores them. Rejects with a SyncError. */
export const fetchStarredMessages = async (port: SyncPort, missing: readonly StarredMessage[]): Promise<void> => {
  for (const { conversation, seq, isPageable } of missing) {
    if (isPageable) await fetchQuotedMessage(port, conversation, seq);
    else port.prioritizeConversation(conversation);
  }
};
