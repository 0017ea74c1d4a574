import { useRef } from "react";
import { countsAsUnread, type StoredBody } from "#contract/conversations.ts";
import type { ConversationId, Uuid } from "#contract/ids.ts";
import { liveQueries } from "#sync/engine.ts";
import { listNamedMembers } from "#sync/queries/queries.ts";
import type { LocalConversationRow, LocalStore, PersonRow } from "#sync/store/database.ts";
import { readMemberProfiles } from "#sync/store/members.ts";
import { isOwnMessage, toDisplayedUnread } from "#sync/store/row-mapping.ts";
import type { ConversationListItem, MemberProfiles } from "#sync/store/view-models.ts";
import { useLiveQuery } from "./use-live-query.ts";

/** What a conversation stands at, as far as it may be news. */
export type ConversationHead = {
  id: ConversationId;
  kind: "private" | "group";
  head: number;
  /** When the newest message was stored, by the server's clock. */
  at: number;
  unread: number;
  muted: boolean;
  /** The newest message is words of somebody else: no line of a group, no call, nothing taken back. */
  isIncoming: boolean;
};

const maxNewestHeads = 20; // conversations; what comes to more than these at once is no news of the moment

const isIncomingMessage = (row: LocalConversationRow, me: Uuid): boolean =>
  row.head > row.hidden &&
  row.preview !== null &&
  row.preview.type !== "call" &&
  countsAsUnread({ body: row.preview }) &&
  !isOwnMessage(row, me, row);

const readNewestHeads = async (store: LocalStore, me: Uuid): Promise<ConversationHead[]> => {
  const rows = await store.conversations
    .where("[listed+lastAt]")
    .between([1, 0], [1, Number.MAX_SAFE_INTEGER], true, true)
    .reverse()
    .limit(maxNewestHeads)
    .toArray();
  return rows.map((row) => ({
    id: row.id,
    kind: row.kind,
    head: row.head,
    at: row.at,
    unread: row.gone ? 0 : toDisplayedUnread(row),
    muted: row.muted,
    isIncoming: isIncomingMessage(row, me),
  }));
};

/** Tells of the newest conversations, now and whenever something in them is another. */
export const subscribeNewestHeads = (listener: (heads: readonly ConversationHead[]) => void): (() => void) => {
  let leave = () => {};
  const follow = () => {
    leave();
    const live = liveQueries.get()?.openQuery("newest", ({ store, me }) => readNewestHeads(store, me), false);
    if (!live) return;
    const tell = () => {
      const heads = live.get();
      if (heads) listener(heads);
    };
    leave = live.subscribe(tell);
    tell();
  };
  const unsubscribe = liveQueries.subscribe(follow);
  follow();
  return () => {
    unsubscribe();
    leave();
  };
};

/** What is new in a conversation, to be shown where it is not open. */
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

/** Null for a conversation this device has not, or no more. */
export const useUnreadPreview = (id: ConversationId | undefined): UnreadPreview | null | undefined =>
  useLiveQuery(id && `news ${id}`, ({ store, me }) => readUnreadPreview(store, me, id ?? ""), false);

const noPreviews: readonly UnreadPreview[] = [];

/** The same of several, of those in which anything is unread. While one more is looked up, those that were known stay. */
export const useUnreadPreviews = (ids: readonly ConversationId[]): readonly UnreadPreview[] => {
  const last = useRef(noPreviews);
  const all = useLiveQuery(
    ids.length > 0 ? `news of ${ids.join()}` : undefined,
    async ({ store, me }) => {
      const each = await Promise.all(ids.map((id) => readUnreadPreview(store, me, id)));
      return each.flatMap((news) => (news && news.unread > 0 ? news : []));
    },
    false,
  );
  if (all) last.current = all;
  return ids.length > 0 ? (all ?? last.current) : noPreviews;
};
