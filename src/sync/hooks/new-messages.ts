import { useRef } from "react";
import { listNamedMembers } from "#components/messages/member-names.ts";
import { isMutedAt } from "#contract/conversations.ts";
import type { ConversationId, Uuid } from "#contract/ids.ts";
import type { StoredBody } from "#contract/messages/body.ts";
import { countsAsUnread } from "#contract/messages/message.ts";
import type { QueryContext } from "#sync/queries/live-queries.ts";
import type { LocalConversationRow, LocalStore, PersonRow } from "#sync/store/database.ts";
import { listSections } from "#sync/store/database.ts";
import { readMemberProfiles } from "#sync/store/members.ts";
import { isOwnMessage, toDisplayedMentions, toDisplayedUnread } from "#sync/store/row-mapping.ts";
import type { ConversationListItem, MemberProfiles } from "#sync/store/view-models.ts";
import { subscribeQuery, useLiveQuery } from "./use-live-query.ts";

/** Newest message and unread count of a conversation, for notifications of new messages. */
export type ConversationHead = {
  id: ConversationId;
  kind: "private" | "group";
  head: number;
  /** Time of the newest message by the server's clock, in epoch milliseconds. */
  at: number;
  unread: number;
  muted: boolean;
  /** Newest unread mention that notifies although the conversation is muted. */
  mention?: number | undefined;
  /** Whether somebody else wrote the newest message. False for system messages, call entries and tombstones. */
  isIncoming: boolean;
};

const maxNewestHeads = 20; // messages in more conversations at once are not notified

const isIncomingMessage = (row: LocalConversationRow, me: Uuid): boolean =>
  row.head > row.hidden &&
  row.preview !== null &&
  row.preview.type !== "call" &&
  countsAsUnread({ body: row.preview }) &&
  !isOwnMessage(row, me, row);

const readNewestHeads = async ({ store, me, clock }: QueryContext): Promise<ConversationHead[]> => {
  // A new message takes a conversation out of the archive unless it is muted.
  const { main, pinned } = listSections;
  const read = (section: typeof main | typeof pinned) => store.queryListed(section).limit(maxNewestHeads).toArray();
  const rows = (await Promise.all([read(main), read(pinned)])).flat().sort((a, b) => b.lastAt - a.lastAt);
  return rows.slice(0, maxNewestHeads).map((row) => ({
    id: row.id,
    kind: row.kind,
    head: row.head,
    at: row.at,
    unread: row.gone ? 0 : toDisplayedUnread(row),
    muted: isMutedAt(row, clock.now()),
    mention: row.mutedExceptMentions ? toDisplayedMentions(row).at(-1) : undefined,
    isIncoming: isIncomingMessage(row, me),
  }));
};

/** Calls the listener with the newest conversations, now and after each change. Returns the unsubscribe function. */
export const subscribeNewestHeads = (listener: (heads: readonly ConversationHead[]) => void): (() => void) =>
  subscribeQuery("newest", readNewestHeads, listener);

/** Unread state and newest incoming message of a conversation, shown while the conversation is not open. */
export type UnreadPreview = Pick<ConversationListItem, "id" | "peer" | "group" | "unread"> & {
  person: PersonRow | undefined;
  body: StoredBody | null;
  sender: number;
  memberProfiles: MemberProfiles;
};

const readUnreadPreview = (store: LocalStore, me: Uuid, id: ConversationId): Promise<UnreadPreview | null> =>
  store.transaction("r", [store.conversations, store.people, store.members, store.meta], async () => {
    const row = await store.conversations.get(id);
    if (!row || row.gone) return null;
    const { peer, group, sender } = row;
    const body = isIncomingMessage(row, me) ? row.preview : null;
    return {
      id,
      peer,
      group,
      unread: toDisplayedUnread(row),
      body,
      sender,
      person: peer ? await store.people.get(peer) : undefined,
      memberProfiles: group ? await readMemberProfiles(store, me, id, listNamedMembers({ body, sender })) : {},
    };
  });

/** Unread preview of a conversation; null for one that is not on this device. */
export const useUnreadPreview = (id: ConversationId | undefined): UnreadPreview | null | undefined =>
  useLiveQuery(id && `news ${id}`, ({ store, me }) => readUnreadPreview(store, me, id ?? ""), false);

const noPreviews: readonly UnreadPreview[] = [];

/** Unread previews of several conversations, without those read. The previous ones stay while more are loaded. */
export const useUnreadPreviews = (ids: readonly ConversationId[]): readonly UnreadPreview[] => {
  const last = useRef(noPreviews);
  const all = useLiveQuery(
    ids.length > 0 ? `news of ${ids.join()}` : undefined,
    async ({ store, me }) => {
      const each = await Promise.all(ids.map((id) => readUnreadPreview(store, me, id)));
      return each.flatMap((preview) => (preview && preview.unread > 0 ? preview : []));
    },
    false,
  );
  if (all) last.current = all;
  return ids.length > 0 ? (all ?? last.current) : noPreviews;
};
