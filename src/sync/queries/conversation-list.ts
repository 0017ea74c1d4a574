import { listNamedMembers } from "#components/messages/member-names.ts";
import type { Uuid } from "#contract/ids.ts";
import { isSystemMessage } from "#contract/messages/kinds.ts";
import type { LocalConversationRow, LocalMessageRow, LocalStore, OutboxRow } from "#sync/store/database.ts";
import { type ListSection, listSections } from "#sync/store/database.ts";
import { readMemberProfiles } from "#sync/store/members.ts";
import { isOwnMessage, toDisplayedMentions, toDisplayedUnread, toEffectiveFlags } from "#sync/store/row-mapping.ts";
import { isCaughtUp, readSyncCursor } from "#sync/store/sync-cursor.ts";
import type { ConversationListItem, LastMessage, ListFilter, MemberProfiles } from "#sync/store/view-models.ts";
import type { DraftRow } from "#sync/unsent/draft-row.ts";
import { toChatItem, toStoredStatus, toUnsentStatus } from "./chat-messages.ts";
import { type QueryClock, singleQueryClock } from "./live-queries.ts";
import { readMuteState } from "./mute-state.ts";

type Drafts = ReadonlyMap<string, Pick<DraftRow, "text">>;
const noDrafts: Drafts = new Map();
const noProfiles: MemberProfiles = {};

const toDraftField = (draft: Pick<DraftRow, "text"> | undefined) => (draft?.text ? { draft: draft.text } : {});

/** Number of archived conversations. */
export const countArchived = (store: LocalStore): Promise<number> => store.queryListed(listSections.archived).count();

const isShown = (row: LocalConversationRow, filter: ListFilter): boolean => {
  if (filter === "unread") return toDisplayedUnread(row) > 0 || toEffectiveFlags(row).marked;
  return filter !== "groups" || row.kind === "group";
};

/** Left conversations that are listed only because they have a text draft. Requires a transaction. */
const readLeftRows = async ({ conversations }: LocalStore, drafts: Drafts): Promise<LocalConversationRow[]> => {
  const rows = await conversations.bulkGet([...drafts].flatMap(([id, { text }]) => (text === "" ? [] : id)));
  return rows.flatMap((row) => (row?.gone && row.listed === listSections.none ? row : []));
};

/** Rows of the list: pinned ones in the order of pinning, then the newest ones. Requires a transaction. */
const readListRows = async (
  store: LocalStore,
  limit: number,
  filter: ListFilter,
  drafts: Drafts,
): Promise<LocalConversationRow[]> => {
  const read = (section: ListSection) =>
    store
      .queryListed(section)
      .filter((row) => isShown(row, filter))
      .limit(limit)
      .toArray();
  const { archived, main, pinned } = listSections;
  if (filter === "archived") return read(archived);
  const readMain = async () => {
    const [listed, left] = await Promise.all([read(main), readLeftRows(store, drafts)]);
    const shown = left.filter((row) => isShown(row, filter));
    return shown.length === 0 ? listed : [...listed, ...shown].sort((a, b) => b.lastAt - a.lastAt).slice(0, limit);
  };
  const parts = [read(pinned), readMain(), ...(filter === "everything" ? [read(archived)] : [])];
  const [top = [], ...others] = await Promise.all(parts);
  const pinnedAt = (row: LocalConversationRow) => toEffectiveFlags(row).pinnedAt ?? 0;
  return [top.sort((a, b) => pinnedAt(a) - pinnedAt(b)), ...others].flat();
};

/** Flags of a row as the list shows them. */
const toShownFlags = (row: LocalConversationRow): { marked: boolean; archived: boolean; pinned: boolean } => {
  const { marked, archived, pinnedAt } = toEffectiveFlags(row);
  return { marked, archived, pinned: pinnedAt !== null };
};

const toLastMessage = (row: LocalConversationRow, me: Uuid, unsent: OutboxRow | undefined): LastMessage => {
  if (unsent) return { body: unsent.body, mine: true, at: unsent.createdAt, status: toUnsentStatus(unsent) };
  const mine = row.head > 0 && isOwnMessage(row, me, row);
  const last = { body: row.head > row.hidden ? row.preview : null, mine, sender: row.sender, at: row.at };
  const hasStatus = mine && !(row.preview && isSystemMessage(row.preview)); // system messages have no status
  return hasStatus ? { ...last, status: toStoredStatus(row, row.head, row.heldSeq === row.head) } : last;
};

/** Newest message that was not withheld, shown instead of a withheld one. */
const readLastVisibleMessage = async (store: LocalStore, row: LocalConversationRow): Promise<LastMessage> => {
  const visible = ({ body }: LocalMessageRow) => body.type !== "withheld";
  const message = await store
    .queryMessages(row.id, row.hidden + 1)
    .reverse()
    .filter(visible)
    .first();
  if (!message) return { body: null, mine: false, at: row.at };
  const { status, mine, at, body } = toChatItem(row, message);
  return { body, mine, sender: message.sender, at, ...(mine && !isSystemMessage(body) ? { status } : {}) };
};

/**
 * Conversations of the list, read in one transaction, so that no message appears twice, as pending and as sent.
 * Undefined while there are none and the inbox is not fully synced.
 */
export const readConversations = (
  store: LocalStore,
  me: Uuid,
  limit: number,
  clock: QueryClock = singleQueryClock,
  filter: ListFilter = "all",
  drafts: Drafts = noDrafts,
): Promise<ConversationListItem[] | undefined> =>
  store.transaction(
    "r",
    [store.conversations, store.messages, store.people, store.members, store.outbox, store.meta],
    async () => {
      const rows = await readListRows(store, limit, filter, drafts);
      if (rows.length === 0 && !isCaughtUp(await readSyncCursor(store))) return undefined;
      const unsent = new Map((await store.outbox.orderBy("order").toArray()).map((row) => [row.conversation, row]));
      const people = await store.people.bulkGet(rows.map((row) => row.peer ?? ""));
      // Read concurrently: the transaction would end before the last of sequential reads.
      const withheld = await Promise.all(
        rows.map((row) => (row.preview?.type === "withheld" ? readLastVisibleMessage(store, row) : undefined)),
      );
      const lastMessages = rows.map(
        (row, index) =>
          (unsent.has(row.id) ? undefined : withheld[index]) ?? toLastMessage(row, me, unsent.get(row.id)),
      );
      const profiles = await Promise.all(
        rows.map(({ id, group }, index) =>
          group
            ? readMemberProfiles(store, me, id, listNamedMembers(lastMessages[index] ?? { body: null }))
            : noProfiles,
        ),
      );
      return rows.map((row, index) => ({
        id: row.id,
        kind: row.kind,
        peer: row.peer,
        person: people[index],
        unread: toDisplayedUnread(row),
        mentions: toDisplayedMentions(row),
        ...toShownFlags(row),
        at: row.lastAt,
        last: lastMessages[index] ?? { body: null, mine: false, at: row.lastAt },
        open: row.open,
        ...readMuteState(row, clock),
        group: row.group,
        gone: row.gone,
        memberProfiles: profiles[index] ?? noProfiles,
        ...toDraftField(drafts.get(row.id)),
      }));
    },
  );
