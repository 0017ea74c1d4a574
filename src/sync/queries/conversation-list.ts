import { listNamedMembers } from "#components/messages/member-names.ts";
import type { Uuid } from "#contract/ids.ts";
import { isSystemMessage } from "#contract/messages/kinds.ts";
import type { LocalConversationRow, LocalMessageRow, LocalStore } from "#sync/store/database.ts";
import { type ListSection, listSections } from "#sync/store/database.ts";
import { readMemberProfiles } from "#sync/store/members.ts";
import {
  createConversationRow,
  isOwnMessage,
  toDisplayedMentions,
  toDisplayedUnread,
  toEffectiveFlags,
  toListSection,
} from "#sync/store/row-mapping.ts";
import type { SyncContext } from "#sync/store/sync-context.ts";
import { isCaughtUp, readSyncCursor } from "#sync/store/sync-cursor.ts";
import type { ConversationListItem, LastMessage, ListFilter, MemberProfiles } from "#sync/store/view-models.ts";
import { toDraftTarget } from "#sync/unsent/attachment-rows.ts";
import type { DraftRow } from "#sync/unsent/draft-row.ts";
import { compareOrder, type OutboxRow } from "#sync/unsent/outbox-row.ts";
import type { UnsentState } from "#sync/unsent/unsent-state.ts";
import { toChatItem, toStoredStatus, toUnsentStatus } from "./chat-messages.ts";
import { type QueryClock, singleQueryClock } from "./live-queries.ts";
import { readMuteState } from "./mute-state.ts";

const noProfiles: MemberProfiles = {};

const toDraftField = (draft: Pick<DraftRow, "text"> | undefined) => (draft?.text ? { draft: draft.text } : {});

/** Number of archived conversations. */
export const countArchived = (store: LocalStore): Promise<number> => store.queryListed(listSections.archived).count();

const isShown = (row: LocalConversationRow, filter: ListFilter): boolean => {
  if (filter === "unread") return toDisplayedUnread(row) > 0 || toEffectiveFlags(row).marked;
  return filter !== "groups" || row.kind === "group";
};

/** Newest unsent message of each conversation. */
const findNewestUnsent = (outbox: UnsentState["outbox"]): Map<string, OutboxRow> =>
  new Map([...outbox.values()].sort(compareOrder).map((row) => [row.conversation, row]));

/**
 * Rows of conversations with an unsent message or a draft, in the part of the list where they stand because of it.
 * They are listed although they were left, or the server has not told of them yet. Requires a transaction.
 */
const readUnsentRows = async (
  { conversations }: LocalStore,
  me: Uuid,
  newest: ReadonlyMap<string, OutboxRow>,
  { drafts, attachments, recordings }: UnsentState,
): Promise<LocalConversationRow[]> => {
  const texts = [...drafts].flatMap(([id, { text }]) => (text === "" ? [] : id));
  const written = new Set([...texts, ...[...attachments.keys(), ...recordings.keys()].map(toDraftTarget)]);
  const ids = [...newest.keys(), ...[...written].filter((id) => !newest.has(id))];
  const rows = ids.length > 0 ? await conversations.bulkGet(ids) : [];
  return rows.flatMap((stored, index) => {
    const id = ids[index] ?? "";
    const unsentAt = newest.get(id)?.createdAt;
    if (unsentAt === undefined) return stored?.gone ? { ...stored, listed: toListSection(stored) } : [];
    const row = stored ?? createConversationRow(id, me);
    return { ...row, listed: toListSection(row), lastAt: Math.max(row.lastAt, unsentAt) };
  });
};

/** Rows of the list: pinned ones in the order of pinning, then the newest ones. Requires a transaction. */
const readListRows = async (
  store: LocalStore,
  limit: number,
  filter: ListFilter,
  unsentRows: readonly LocalConversationRow[],
): Promise<LocalConversationRow[]> => {
  const unsentIds = new Set(unsentRows.map(({ id }) => id));
  const read = async (section: ListSection) => {
    const listed = await store
      .queryListed(section)
      .filter((row) => isShown(row, filter) && !unsentIds.has(row.id))
      .limit(limit)
      .toArray();
    const unsent = unsentRows.filter((row) => row.listed === section && isShown(row, filter));
    return unsent.length === 0 ? listed : [...listed, ...unsent].sort((a, b) => b.lastAt - a.lastAt).slice(0, limit);
  };
  const { archived, main, pinned } = listSections;
  if (filter === "archived") return read(archived);
  const parts = [read(pinned), read(main), ...(filter === "everything" ? [read(archived)] : [])];
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
 * Conversations of the list. Unsent data is listed before they are read: a message that leaves it meanwhile is in its
 * log. Undefined while there are none and the inbox is not fully synced.
 */
export const readConversations = (
  { store, unsent: written, me }: Pick<SyncContext, "store" | "unsent" | "me">,
  limit: number,
  clock: QueryClock = singleQueryClock,
  filter: ListFilter = "all",
): Promise<ConversationListItem[] | undefined> => {
  const unsent = written.list();
  return store.transaction(
    "r",
    [store.conversations, store.messages, store.people, store.members, store.meta],
    async () => {
      const newest = findNewestUnsent(unsent.outbox);
      const rows = await readListRows(store, limit, filter, await readUnsentRows(store, me, newest, unsent));
      if (rows.length === 0 && !isCaughtUp(await readSyncCursor(store))) return undefined;
      const people = await store.people.bulkGet(rows.map((row) => row.peer ?? ""));
      // Read concurrently: the transaction would end before the last of sequential reads.
      const withheld = await Promise.all(
        rows.map((row) => (row.preview?.type === "withheld" ? readLastVisibleMessage(store, row) : undefined)),
      );
      const lastMessages = rows.map(
        (row, index) =>
          (newest.has(row.id) ? undefined : withheld[index]) ?? toLastMessage(row, me, newest.get(row.id)),
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
        ...toDraftField(unsent.drafts.get(row.id)),
      }));
    },
  );
};
