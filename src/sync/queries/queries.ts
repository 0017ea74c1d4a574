import { attachmentOf, type MessageStatus, type StoredBody, statusOf } from "#contract/conversations.ts";
import { type ConversationId, otherMember, privateMembers, type Uuid } from "#contract/ids.ts";
import { lacksOlder } from "#sync/inbound/read-state.ts";
import { messageKey } from "#sync/inbound/search.ts";
import {
  type ConversationRow,
  draftKey,
  type MessageRow,
  type OutboxRow,
  type PersonRow,
  type Store,
  type UploadRow,
} from "#sync/store/database.ts";
import { readAuthors } from "#sync/store/members.ts";
import { isMine, isTold, shownUnread } from "#sync/store/row-mapping.ts";
import { isLevel, readCursor } from "#sync/store/sync-cursor.ts";
import type {
  Authors,
  ChatItem,
  ConversationListItem,
  ConversationView,
  LastMessage,
  ShownStatus,
  UploadView,
} from "#sync/store/views.ts";

/** What the screens show, read from the local store alone. Each reads in one transaction, so that nothing shows twice. */

const nobody: Authors = {};

/** A message that never reached the others stays sent, whatever their marks say. */
const statusIn = (row: ConversationRow | undefined, seq: number, isHeld: boolean | undefined): MessageStatus =>
  isHeld ? "sent" : statusOf(seq, { delivered: row?.othersDelivered ?? 0, read: row?.othersRead ?? 0 });

const unsentStatus = (row: OutboxRow): ShownStatus => (row.state === "failed" ? "failed" : "sending");

const lastOf = (row: ConversationRow, me: Uuid, unsent: OutboxRow | undefined): LastMessage => {
  if (unsent) return { body: unsent.body, mine: true, at: unsent.createdAt, status: unsentStatus(unsent) };
  const mine = row.head > 0 && isMine(row, me, row);
  const last = { body: row.head > row.hidden ? row.preview : null, mine, sender: row.sender, at: row.at };
  const isSaid = mine && !(row.preview && isTold(row.preview)); // what is only told is not sent to anybody
  return isSaid ? { ...last, status: statusIn(row, row.head, row.heldSeq === row.head) } : last;
};

/** Before a message that was withheld, the last one that was not. */
const lastShown = async (store: Store, row: ConversationRow): Promise<LastMessage> => {
  const shown = ({ body }: MessageRow) => body.type !== "withheld";
  const message = await store
    .range(row.id, row.hidden + 1)
    .reverse()
    .filter(shown)
    .first();
  if (!message) return { body: null, mine: false, at: row.at };
  const { status, mine, at, body } = messageItem(row, message);
  return { body, mine, sender: message.sender, at, ...(mine && !isTold(body) ? { status } : {}) };
};

/** The members whom a line of a group names: who wrote it, and those it speaks of. */
export const namedIn = ({ body, sender }: { body: StoredBody | null; sender?: number | undefined }): number[] => [
  ...(sender === undefined ? [] : [sender]),
  ...(body?.type === "event" ? (body.who ?? []) : []),
];

/** Before this an empty list says nothing: the server may have some to tell of. */
const isToldAll = async (store: Store): Promise<boolean> => isLevel(await readCursor(store));

/** Undefined while there are none and the server may still have some to tell of. */
export const readConversations = (store: Store, me: Uuid, limit: number): Promise<ConversationListItem[] | undefined> =>
  store.transaction(
    "r",
    [store.conversations, store.messages, store.people, store.members, store.outbox, store.meta],
    async () => {
      const rows = await store.conversations
        .where("[listed+lastAt]")
        .between([1, 0], [1, Number.MAX_SAFE_INTEGER], true, true)
        .reverse()
        .limit(limit)
        .toArray();
      if (rows.length === 0 && !(await isToldAll(store))) return undefined;
      const unsent = new Map((await store.outbox.orderBy("order").toArray()).map((row) => [row.conversation, row]));
      const people = await store.people.bulkGet(rows.map((row) => row.peer ?? ""));
      const drafts = await store.meta.bulkGet(rows.map((row) => draftKey(row.id)));
      // Asked for all at once: one after the other, the transaction is over before the last of them.
      const withheld = await Promise.all(
        rows.map((row) => (row.preview?.type === "withheld" ? lastShown(store, row) : undefined)),
      );
      const lasts = rows.map(
        (row, index) => (unsent.has(row.id) ? undefined : withheld[index]) ?? lastOf(row, me, unsent.get(row.id)),
      );
      const authors = await Promise.all(
        rows.map(({ id, group }, index) =>
          group ? readAuthors(store, me, id, namedIn(lasts[index] ?? { body: null })) : nobody,
        ),
      );
      return rows.map((row, index) => ({
        id: row.id,
        kind: row.kind,
        peer: row.peer,
        person: people[index],
        unread: shownUnread(row),
        at: row.lastAt,
        last: lasts[index] ?? { body: null, mine: false, at: row.lastAt },
        open: row.open,
        muted: row.muted,
        group: row.group,
        gone: row.gone,
        authors: authors[index] ?? nobody,
        ...(typeof drafts[index]?.value === "string" ? { draft: drafts[index].value } : {}),
      }));
    },
  );

export const readConversation = (store: Store, me: Uuid, id: ConversationId): Promise<ConversationView> =>
  store.transaction("r", [store.conversations, store.people, store.meta], async () => {
    const row = await store.conversations.get(id);
    const peer = otherMember(id, me);
    const person = peer ? await store.people.get(peer) : undefined;
    const kind = privateMembers(id) ? "private" : "group";
    const blocked = person?.blocked === 1;
    if (!row || row.epoch === "") {
      // The server has not told of it: a contact may be written to all the same.
      return {
        id,
        kind,
        peer,
        person,
        unread: 0,
        head: 0,
        read: 0,
        open: person?.state === "contact",
        known: row !== undefined,
        told: person !== undefined || isLevel(await readCursor(store)),
        muted: false,
        blocked,
        group: null,
        gone: false,
      };
    }
    const read = Math.max(row.read, row.wantRead);
    const { head, open, muted, group, gone } = row;
    const unread = shownUnread(row);
    return { id, kind, peer, person, unread, head, read, open, known: true, told: true, muted, blocked, group, gone };
  });

export const readDraft = async (store: Store, id: ConversationId): Promise<string> => {
  const row = await store.meta.get(draftKey(id));
  return typeof row?.value === "string" ? row.value : "";
};

/** Undefined for one that is not on its way any more. */
export const uploadView = (row: UploadRow | undefined): UploadView | undefined =>
  row && row.state !== "cancelled" ? { sent: row.sent, size: row.size, state: row.state } : undefined;

const pendingItem = (row: OutboxRow, upload: UploadView | undefined): ChatItem => ({
  key: row.cid,
  cid: row.cid,
  mine: true,
  at: row.createdAt,
  body: row.body,
  status: unsentStatus(row),
  ...(row.error ? { error: row.error } : {}),
  ...(upload ? { upload } : {}),
});

export const messageItem = (row: ConversationRow | undefined, message: MessageRow): ChatItem => ({
  key: messageKey(message),
  seq: message.seq,
  ...(message.cid ? { cid: message.cid } : {}),
  mine: message.mine === 1,
  sender: message.sender,
  at: message.at,
  body: message.body,
  status: statusIn(row, message.seq, message.held),
});

export type ChatRead = {
  items: ChatItem[];
  /** The window ends before the oldest message held here. */
  hasMoreHere: boolean;
  hasMoreThere: boolean;
  /** Nothing is held, and there is something to fetch. */
  isEmptyYet: boolean;
};

/** The newest `limit` messages, before them (as the newest) what is unsent. */
export const readChat = (store: Store, id: ConversationId, limit: number): Promise<ChatRead> =>
  store.transaction("r", [store.conversations, store.messages, store.outbox, store.uploads], async () => {
    const row = await store.conversations.get(id);
    const unsent = await store.unsent(id).reverse().toArray();
    const uploads = new Map<string, UploadView | undefined>();
    for (const { file } of unsent.flatMap(({ body }) => attachmentOf(body) ?? []))
      uploads.set(file, uploadView(await store.uploads.get(file)));
    const messages = await store
      .range(id, Math.max(row?.lo ?? 1, 1))
      .reverse()
      .limit(limit + 1)
      .toArray();
    const hasMoreHere = messages.length > limit;
    // Beyond a hole only what I wrote shows: it has its tick and stays where it was.
    const shown = messages
      .slice(0, limit)
      .filter(({ seq, mine, body }) => (seq <= (row?.hi ?? 0) || mine === 1) && body.type !== "withheld");
    const pending = unsent.map((message) => pendingItem(message, uploads.get(attachmentOf(message.body)?.file ?? "")));
    return {
      items: [...pending, ...shown.map((message) => messageItem(row, message))],
      hasMoreHere,
      hasMoreThere: row !== undefined && lacksOlder(row),
      isEmptyYet: row !== undefined && row.lo > row.hi && row.head > row.hidden && shown.length === 0,
    };
  });

export const readBlocked = async (store: Store): Promise<PersonRow[]> =>
  (await store.people.where("blocked").equals(1).toArray()).sort(byName);

const byName = (a: PersonRow, b: PersonRow): number => a.username.localeCompare(b.username);

/** Those in one of these states, or undefined while there are none and the server may still have some to tell of. */
const readPeople = (store: Store, ...states: PersonRow["state"][]): Promise<PersonRow[] | undefined> =>
  store.transaction("r", [store.people, store.meta], async () => {
    const people = await store.people.where("state").anyOf(states).toArray();
    return people.length > 0 || (await isToldAll(store)) ? people : undefined;
  });

export const readContacts = async (store: Store): Promise<PersonRow[] | undefined> =>
  (await readPeople(store, "contact"))?.sort(byName);

export const readRequests = async (store: Store): Promise<{ received: PersonRow[]; sent: PersonRow[] } | undefined> => {
  const people = await readPeople(store, "received", "sent");
  people?.sort((a, b) => b.since - a.since);
  return (
    people && {
      received: people.filter((person) => person.state === "received"),
      sent: people.filter((person) => person.state === "sent"),
    }
  );
};
