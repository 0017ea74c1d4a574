import { listNamedMembers } from "#components/messages/member-names.ts";
import { findAttachment, type MessageStatus, toMessageStatus } from "#contract/conversations.ts";
import { isGroupActionAllowed } from "#contract/groups.ts";
import { type ConversationId, otherMember, privateMembers, type Uuid } from "#contract/ids.ts";
import {
  groupInvitationsKey,
  type LocalConversationRow,
  type LocalMessageRow,
  type LocalStore,
  type OutboxRow,
  type PersonRow,
  type UploadRow,
} from "#sync/store/database.ts";
import { readMemberProfiles } from "#sync/store/members.ts";
import { toTextDraftKey } from "#sync/store/pending/draft-keys.ts";
import { readDeletedSeqs, readStarredSeqs } from "#sync/store/pending/pending-message-flags.ts";
import {
  findPendingReaction,
  listPendingReactions,
  type PendingReaction,
} from "#sync/store/pending/pending-reactions.ts";
import { listPendingEdits, type PendingEdit } from "#sync/store/pending-edits.ts";
import {
  hasOlderOnServer,
  isOwnMessage,
  isSystemMessage,
  isTombstone,
  toDisplayedMentions,
  toDisplayedUnread,
  toEffectiveFlags,
  toMessageKey,
} from "#sync/store/row-mapping.ts";
import { isCaughtUp, readSyncCursor } from "#sync/store/sync-cursor.ts";
import type {
  ChatItem,
  ConversationListItem,
  ConversationView,
  DisplayedStatus,
  LastMessage,
  ListFilter,
  MemberProfiles,
  UploadView,
} from "#sync/store/view-models.ts";
import { readListRows, toShownFlags } from "./list-rows.ts";
import { type QueryClock, singleQueryClock } from "./live-queries.ts";
import { notMuted, readMuteState } from "./mute-state.ts";

/**
 * Queries of the screens, on the local database alone. Each uses one transaction, so that no message appears twice, as
 * pending and as sent.
 */

const noProfiles: MemberProfiles = {};

/** Status of an own message. One that was never delivered to the others stays "sent", whatever their read state. */
const toStoredStatus = (
  row: LocalConversationRow | undefined,
  seq: number,
  isHeld: boolean | undefined,
): MessageStatus =>
  isHeld ? "sent" : toMessageStatus(seq, { delivered: row?.othersDelivered ?? 0, read: row?.othersRead ?? 0 });

const toUnsentStatus = (row: OutboxRow): DisplayedStatus => (row.state === "failed" ? "failed" : "sending");

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

/** Whether the inbox is fully synced. Before that an empty list may be incomplete. */
const isInboxSynced = async (store: LocalStore): Promise<boolean> => isCaughtUp(await readSyncCursor(store));

/** Undefined while there are none and the inbox is not fully synced. */
export const readConversations = (
  store: LocalStore,
  me: Uuid,
  limit: number,
  clock: QueryClock = singleQueryClock,
  filter: ListFilter = "all",
): Promise<ConversationListItem[] | undefined> =>
  store.transaction(
    "r",
    [store.conversations, store.messages, store.people, store.members, store.outbox, store.meta],
    async () => {
      const rows = await readListRows(store, limit, filter);
      if (rows.length === 0 && !(await isInboxSynced(store))) return undefined;
      const unsent = new Map((await store.outbox.orderBy("order").toArray()).map((row) => [row.conversation, row]));
      const people = await store.people.bulkGet(rows.map((row) => row.peer ?? ""));
      const drafts = await store.meta.bulkGet(rows.map((row) => toTextDraftKey(row.id)));
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
        ...(typeof drafts[index]?.value === "string" ? { draft: drafts[index].value } : {}),
      }));
    },
  );

export const readConversation = (
  store: LocalStore,
  me: Uuid,
  id: ConversationId,
  clock: QueryClock = singleQueryClock,
): Promise<ConversationView> =>
  store.transaction("r", [store.conversations, store.messages, store.people, store.meta], async () => {
    const row = await store.conversations.get(id);
    const peer = otherMember(id, me);
    const person = peer ? await store.people.get(peer) : undefined;
    const kind = privateMembers(id) ? "private" : "group";
    const blocked = person?.blocked === 1;
    if (!row || row.epoch === "") {
      // Not received from the server yet: a contact may be written to all the same.
      return {
        id,
        kind,
        peer,
        person,
        unread: 0,
        mentions: [],
        marked: false,
        head: 0,
        read: 0,
        open: person?.state === "contact",
        isStored: row !== undefined,
        isConfirmed: person !== undefined || isCaughtUp(await readSyncCursor(store)),
        ...notMuted,
        blocked,
        pinnedMessages: [],
        group: row?.group ?? null,
        gone: false,
      };
    }
    const read = Math.max(row.read, row.wantRead);
    const { head, open, group, gone } = row;
    const unread = toDisplayedUnread(row);
    return {
      id,
      kind,
      peer,
      person,
      unread,
      mentions: toDisplayedMentions(row),
      marked: toEffectiveFlags(row).marked,
      head,
      read,
      open,
      isStored: true,
      isConfirmed: true,
      ...readMuteState(row, clock),
      blocked,
      pinnedMessages: await readPinnedMessages(store, row),
      group,
      gone,
    };
  });

/**
 * Positions of the pinned messages, without those deleted for everyone on this device. Those that this person cleared or
 * deleted for themselves are left out unless they may unpin them. Requires a transaction.
 */
const readPinnedMessages = async (
  store: LocalStore,
  { id, hidden, group, pinnedMessages = [] }: LocalConversationRow,
): Promise<number[]> => {
  const mayUnpin = !group || isGroupActionAllowed(group.role, "pin");
  const seqs = pinnedMessages.filter((seq) => mayUnpin || seq > hidden);
  if (seqs.length === 0) return seqs;
  const stored = await store.messages.bulkGet(seqs.map((seq): [ConversationId, number] => [id, seq]));
  const deleted = mayUnpin ? new Set<number>() : await readDeletedSeqs(store, id);
  for (const message of stored)
    if (message?.body.type === "deleted" || (!mayUnpin && message?.body.type === "withheld")) deleted.add(message.seq);
  return seqs.filter((seq) => !deleted.has(seq));
};

export const readTextDraft = async (store: LocalStore, id: ConversationId): Promise<string> => {
  const row = await store.meta.get(toTextDraftKey(id));
  return typeof row?.value === "string" ? row.value : "";
};

/** Undefined for a cancelled upload. */
export const toUploadView = (row: UploadRow | undefined): UploadView | undefined =>
  row && row.state !== "cancelled" ? { sent: row.sent, size: row.size, state: row.state } : undefined;

const toPendingItem = (
  row: OutboxRow,
  upload: UploadView | undefined,
  pending: readonly PendingReaction[],
): ChatItem => ({
  key: row.cid,
  cid: row.cid,
  mine: true,
  at: row.createdAt,
  body: row.body,
  status: toUnsentStatus(row),
  ...(row.error ? { error: row.error } : {}),
  ...(row.replyTo ? { replyTo: row.replyTo } : {}),
  ...toReactionFields(row, pending),
  ...(upload ? { upload } : {}),
});

const toReactionFields = (
  message: { seq?: number; cid?: Uuid | undefined; reactions?: string },
  pending: readonly PendingReaction[],
): Pick<ChatItem, "reactions" | "ownReaction"> => {
  const { reactions } = message;
  const own = findPendingReaction(message, pending);
  return { ...(reactions ? { reactions } : {}), ...(own ? { ownReaction: own.emoji } : {}) };
};

export const toChatItem = (
  row: LocalConversationRow | undefined,
  message: LocalMessageRow,
  pending: readonly PendingReaction[] = [],
  starred?: ReadonlySet<number>,
): ChatItem => ({
  key: toMessageKey(message),
  seq: message.seq,
  ...(message.cid ? { cid: message.cid } : {}),
  mine: message.mine === 1,
  sender: message.sender,
  at: message.at,
  body: message.body,
  status: toStoredStatus(row, message.seq, message.held),
  ...toReactionFields(message, pending),
  ...(starred?.has(message.seq) ? { starred: true } : {}),
});

/** The message with the text of its pending edit. */
const showPendingEdit = (item: ChatItem, edits: readonly PendingEdit[]): ChatItem => {
  const edit = edits.find(({ target }) => target === item.cid || target === item.seq);
  return edit && !isTombstone(item.body) ? { ...item, body: edit.body, edit: edit.error ?? "sending" } : item;
};

/** Part of a chat as read from the local database. */
export type ChatSnapshot = {
  items: ChatItem[];
  /** More messages are stored than `limit`. */
  hasMoreLocally: boolean;
  hasMoreOnServer: boolean;
  /** Nothing is stored, and there are messages to fetch. */
  isNotLoadedYet: boolean;
};

/** The newest `limit` messages, preceded by the unsent ones. */
export const readChat = (store: LocalStore, id: ConversationId, limit: number): Promise<ChatSnapshot> =>
  store.transaction("r", [store.conversations, store.messages, store.outbox, store.uploads, store.meta], async () => {
    const row = await store.conversations.get(id);
    const reactions = await listPendingReactions(store, id);
    const unsent = await store.queryUnsent(id).reverse().toArray();
    const uploads = new Map<string, UploadView | undefined>();
    for (const { file } of unsent.flatMap(({ body }) => findAttachment(body) ?? []))
      uploads.set(file, toUploadView(await store.uploads.get(file)));
    const messages = await store
      .queryMessages(id, Math.max(row?.lo ?? 1, 1))
      .reverse()
      .limit(limit + 1)
      .toArray();
    const hasMoreHere = messages.length > limit;
    // Beyond a gap only own messages are shown: they were acknowledged and keep their position.
    const visible = messages
      .slice(0, limit)
      .filter(({ seq, mine, body }) => (seq <= (row?.hi ?? 0) || mine === 1) && body.type !== "withheld");
    const pending = unsent.map((message) =>
      toPendingItem(message, uploads.get(findAttachment(message.body)?.file ?? ""), reactions),
    );
    const edits = await listPendingEdits(store, id);
    const [starred, deleted] = [await readStarredSeqs(store, id), await readDeletedSeqs(store, id)];
    return {
      items: [
        ...pending,
        ...visible
          .filter(({ seq }) => !deleted.has(seq))
          .map((message) => toChatItem(row, message, reactions, starred)),
      ].map((item) => showPendingEdit(item, edits)),
      hasMoreLocally: hasMoreHere,
      hasMoreOnServer: row !== undefined && hasOlderOnServer(row),
      isNotLoadedYet: row !== undefined && row.lo > row.hi && row.head > row.hidden && visible.length === 0,
    };
  });

export const readBlockedPeople = async (store: LocalStore): Promise<PersonRow[]> =>
  (await store.people.where("blocked").equals(1).toArray()).sort(compareByName);

const compareByName = (a: PersonRow, b: PersonRow): number => a.username.localeCompare(b.username);

/** People in one of these states; undefined while there are none and the inbox is not fully synced. */
const readPeople = (store: LocalStore, ...states: PersonRow["state"][]): Promise<PersonRow[] | undefined> =>
  store.transaction("r", [store.people, store.meta], async () => {
    const people = await store.people.where("state").anyOf(states).toArray();
    return people.length > 0 || (await isInboxSynced(store)) ? people : undefined;
  });

export const readContacts = async (store: LocalStore): Promise<PersonRow[] | undefined> =>
  (await readPeople(store, "contact"))?.sort(compareByName);

export const readContactRequests = async (
  store: LocalStore,
): Promise<{ received: PersonRow[]; sent: PersonRow[]; invitations: number } | undefined> => {
  const people = await readPeople(store, "received", "sent");
  people?.sort((a, b) => b.since - a.since);
  return (
    people && {
      invitations: ((await store.meta.get(groupInvitationsKey))?.value as number | undefined) ?? 0,
      received: people.filter((person) => person.state === "received"),
      sent: people.filter((person) => person.state === "sent"),
    }
  );
};
