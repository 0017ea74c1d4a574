import { useRef } from "react";
import { isToRead, type StoredBody } from "#contract/conversations.ts";
import type { ConversationId, Uuid } from "#contract/ids.ts";
import { liveQueries } from "#sync/engine.ts";
import { namedIn } from "#sync/queries/queries.ts";
import type { ConversationRow, PersonRow, Store } from "#sync/store/database.ts";
import { readAuthors } from "#sync/store/members.ts";
import { isMine, shownUnread } from "#sync/store/row-mapping.ts";
import type { Authors, ConversationListItem } from "#sync/store/views.ts";
import { useLive } from "./use-live-query.ts";

/** What a conversation stands at, as far as it may be news. */
export type Head = {
  id: ConversationId;
  kind: "private" | "group";
  head: number;
  /** When the newest message was stored, by the server's clock. */
  at: number;
  unread: number;
  muted: boolean;
  /** The newest message is words of somebody else: no line of a group, no call, nothing taken back. */
  isSaid: boolean;
};

const newestMax = 20; // conversations; what comes to more than these at once is no news of the moment

const isSaid = (row: ConversationRow, me: Uuid): boolean =>
  row.head > row.hidden &&
  row.preview !== null &&
  row.preview.type !== "call" &&
  isToRead({ body: row.preview }) &&
  !isMine(row, me, row);

const readNewest = async (store: Store, me: Uuid): Promise<Head[]> => {
  const rows = await store.conversations
    .where("[listed+lastAt]")
    .between([1, 0], [1, Number.MAX_SAFE_INTEGER], true, true)
    .reverse()
    .limit(newestMax)
    .toArray();
  return rows.map((row) => ({
    id: row.id,
    kind: row.kind,
    head: row.head,
    at: row.at,
    unread: row.gone ? 0 : shownUnread(row),
    muted: row.muted,
    isSaid: isSaid(row, me),
  }));
};

/** Tells of the newest conversations, now and whenever something in them is another. */
export const watchNewest = (listener: (heads: readonly Head[]) => void): (() => void) => {
  let leave = () => {};
  const follow = () => {
    leave();
    const live = liveQueries.get()?.of("newest", ({ store, me }) => readNewest(store, me), false);
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
export type News = Pick<ConversationListItem, "id" | "peer" | "group" | "unread"> & {
  person: PersonRow | undefined;
  body: StoredBody | null;
  sender: number;
  authors: Authors;
};

const readNews = (store: Store, me: Uuid, id: ConversationId): Promise<News | null> =>
  store.transaction("r", [store.conversations, store.people, store.members, store.meta], async () => {
    const row = await store.conversations.get(id);
    if (!row || row.gone) return null;
    const { peer, group, sender } = row;
    const body = isSaid(row, me) ? row.preview : null;
    return {
      id,
      peer,
      group,
      unread: shownUnread(row),
      body,
      sender,
      person: peer ? await store.people.get(peer) : undefined,
      authors: group ? await readAuthors(store, me, id, namedIn({ body, sender })) : {},
    };
  });

/** Null for a conversation this device has not, or no more. */
export const useNews = (id: ConversationId | undefined): News | null | undefined =>
  useLive(id && `news ${id}`, ({ store, me }) => readNews(store, me, id ?? ""), false);

const none: readonly News[] = [];

/** The same of several, of those in which anything is unread. While one more is looked up, those that were known stay. */
export const useNewsOf = (ids: readonly ConversationId[]): readonly News[] => {
  const last = useRef(none);
  const all = useLive(
    ids.length > 0 ? `news of ${ids.join()}` : undefined,
    async ({ store, me }) => {
      const each = await Promise.all(ids.map((id) => readNews(store, me, id)));
      return each.flatMap((news) => (news && news.unread > 0 ? news : []));
    },
    false,
  );
  if (all) last.current = all;
  return ids.length > 0 ? (all ?? last.current) : none;
};
