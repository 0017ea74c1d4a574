import { type MessageStatus, statusOf } from "../../contract/conversations";
import { type ConversationId, otherMember, privateMembers, type Uuid } from "../../contract/ids";
import { meKey } from "./profile";
import { isMine, shownUnread } from "./rows";
import { messageKey } from "./search";
import type { ConversationRow, MessageRow, OutboxRow, PersonRow, Store } from "./store";
import { lacksOlder } from "./viewing";
import type { ChatItem, ConversationListItem, ConversationView, LastMessage, ShownStatus } from "./views";

/** What the screens show, read from the local store alone. Each reads in one transaction, so that nothing shows twice. */

const statusIn = (row: ConversationRow | undefined, seq: number): MessageStatus =>
  statusOf(seq, { delivered: row?.othersDelivered ?? 0, read: row?.othersRead ?? 0 });

const unsentStatus = (row: OutboxRow): ShownStatus => (row.state === "failed" ? "failed" : "sending");

const lastOf = (row: ConversationRow, me: Uuid, unsent: OutboxRow | undefined): LastMessage => {
  if (unsent) return { body: unsent.body, mine: true, at: unsent.createdAt, status: unsentStatus(unsent) };
  const mine = row.head > 0 && isMine(row.id, me, row);
  const last = { body: row.head > row.hidden ? row.preview : null, mine, at: row.at };
  return mine ? { ...last, status: statusIn(row, row.head) } : last;
};

export const readConversations = (store: Store, me: Uuid, limit: number): Promise<ConversationListItem[]> =>
  store.transaction("r", [store.conversations, store.people, store.outbox], async () => {
    const rows = await store.conversations
      .where("[listed+lastAt]")
      .between([1, 0], [1, Number.MAX_SAFE_INTEGER], true, true)
      .reverse()
      .limit(limit)
      .toArray();
    const unsent = new Map((await store.outbox.orderBy("order").toArray()).map((row) => [row.conversation, row]));
    const people = await store.people.bulkGet(rows.map((row) => row.peer ?? ""));
    return rows.map((row, index) => ({
      id: row.id,
      kind: row.kind,
      peer: row.peer,
      person: people[index],
      unread: shownUnread(row),
      at: row.lastAt,
      last: lastOf(row, me, unsent.get(row.id)),
      open: row.open,
    }));
  });

export const readConversation = (store: Store, me: Uuid, id: ConversationId): Promise<ConversationView> =>
  store.transaction("r", [store.conversations, store.people], async () => {
    const row = await store.conversations.get(id);
    const peer = otherMember(id, me);
    const person = peer ? await store.people.get(peer) : undefined;
    const kind = privateMembers(id) ? "private" : "group";
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
      };
    }
    const read = Math.max(row.read, row.wantRead);
    return { id, kind, peer, person, unread: shownUnread(row), head: row.head, read, open: row.open, known: true };
  });

const pendingItem = (row: OutboxRow): ChatItem => ({
  key: row.cid,
  cid: row.cid,
  mine: true,
  at: row.createdAt,
  body: row.body,
  status: unsentStatus(row),
  ...(row.error ? { error: row.error } : {}),
});

export const messageItem = (row: ConversationRow | undefined, message: MessageRow): ChatItem => ({
  key: messageKey(message),
  seq: message.seq,
  ...(message.cid ? { cid: message.cid } : {}),
  mine: message.mine === 1,
  sender: message.sender,
  at: message.at,
  body: message.body,
  status: statusIn(row, message.seq),
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
  store.transaction("r", [store.conversations, store.messages, store.outbox], async () => {
    const row = await store.conversations.get(id);
    const unsent = await store.unsent(id).reverse().toArray();
    const messages = await store
      .range(id, Math.max(row?.lo ?? 1, 1))
      .reverse()
      .limit(limit + 1)
      .toArray();
    const hasMoreHere = messages.length > limit;
    // Beyond a hole only what I wrote shows: it has its tick and stays where it was.
    const shown = messages.slice(0, limit).filter((message) => message.seq <= (row?.hi ?? 0) || message.mine === 1);
    return {
      items: [...unsent.map(pendingItem), ...shown.map((message) => messageItem(row, message))],
      hasMoreHere,
      hasMoreThere: row !== undefined && lacksOlder(row),
      isEmptyYet: row !== undefined && row.lo > row.hi && row.head > row.hidden && shown.length === 0,
    };
  });

const byName = (a: PersonRow, b: PersonRow): number => a.username.localeCompare(b.username);

export const readContacts = async (store: Store): Promise<PersonRow[]> =>
  (await store.people.where("state").equals("contact").toArray()).sort(byName);

export const readRequests = async (store: Store): Promise<{ received: PersonRow[]; sent: PersonRow[] }> => {
  const people = await store.people.where("state").anyOf("received", "sent").toArray();
  people.sort((a, b) => b.since - a.since);
  return {
    received: people.filter((person) => person.state === "received"),
    sent: people.filter((person) => person.state === "sent"),
  };
};

export const readMe = async (store: Store): Promise<PersonRow | null> =>
  ((await store.meta.get(meKey))?.value as PersonRow | undefined) ?? null;
