import { expect } from "vitest";
import type { ConversationId } from "#contract/ids.ts";
import { toPromise, UnsentDatabase } from "#lib/unsent/unsent-database.ts";
import type { SyncClient } from "#sync/engine/sync-client.ts";
import { readChat } from "#sync/queries/chat-messages.ts";
import { readConversations } from "#sync/queries/conversation-list.ts";
import type { LocalMessageRow } from "#sync/store/database.ts";
import { listUnsent } from "#sync/unsent/messages.ts";
import { eventually } from "./eventually.ts";
import { findVisibleHead, toVisibleMessage } from "./model-log.ts";
import type { ModelServer } from "./model-server.ts";

const everything = 100_000;

export const getContext = (tab: SyncClient) => {
  const context = tab.context.get();
  if (!context) throw new Error("the tab's store is not open");
  return context;
};

/** Text draft as the next page of the device finds it. */
export const readCommittedDraft = async ({ me, platform }: SyncClient, chat: ConversationId): Promise<string> => {
  const { indexedDB = globalThis.indexedDB } = platform.indexedDb ?? {};
  const database = new UnsentDatabase(me, { indexedDB, openChannel: platform.openChannel });
  const row = await database.read(["drafts"], (access) => toPromise(access("drafts").get(chat)));
  database.close();
  return row?.text ?? "";
};

/** Texts of a chat with their status, oldest first. */
export const listShown = async (tab: SyncClient, id: ConversationId): Promise<string[]> => {
  const { items } = await readChat(getContext(tab), id, everything);
  return items
    .map(({ body, status, mine }) => `${body.type === "text" ? body.text : body.type}${mine ? ` ${status}` : ""}`)
    .reverse();
};

export const listTexts = async (tab: SyncClient, id: ConversationId): Promise<string[]> => {
  const { items } = await readChat(getContext(tab), id, everything);
  return items.map(({ body }) => (body.type === "text" ? body.text : body.type)).reverse();
};

export const listConversations = async (tab: SyncClient) => {
  return (await readConversations(getContext(tab), everything)) ?? [];
};

export const findListRow = async (tab: SyncClient, id: ConversationId) =>
  (await listConversations(tab)).find((row) => row.id === id);

/** Waits until a device knows that the user was removed from a group. */
export const waitUntilGone = (tab: SyncClient, group: ConversationId): Promise<void> =>
  eventually(async () => expect(await getContext(tab).store.conversations.get(group)).toMatchObject({ gone: true }));

const toComparable = ({
  seq,
  mine,
  body,
  held,
  reactions,
}: Omit<LocalMessageRow, "conversation" | "sender" | "at">) => ({
  seq,
  mine,
  body,
  held,
  // The order of kinds with the same count differs until the summary of the server arrives.
  reactions: (reactions ?? "").split(" ").sort().join(" "),
});

/**
 * Checks that the device holds the newest part of the log without gaps, exactly as the server has it, and nothing else.
 */
export const expectSynced = async (server: ModelServer, tab: SyncClient, id: ConversationId): Promise<void> => {
  const { store, me } = getContext(tab);
  const log = server.log(id);
  expect(listUnsent(tab.unsent, id).filter(({ state }) => state !== "failed")).toEqual([]);
  const row = await store.conversations.get(id);
  const head = findVisibleHead(log, me);
  const { epoch, revision } = log;
  expect(row).toMatchObject({ head, storedTo: head, epoch, revision, revised: revision });
  const held = await store.queryMessages(id, 0).toArray();
  const expected = log.messages
    .filter(({ seq }) => seq >= (row?.storedFrom ?? 1) && seq <= head)
    .map((message) => ({
      ...toVisibleMessage(message, me, log.members.get(me)),
      mine: message.author === me ? (1 as const) : (0 as const),
    }))
    .map((message) => toComparable(message));
  expect(held.map((message) => toComparable(message))).toEqual(expected);
  const { unread, delivered, read, othersDelivered, othersRead, muted, kept, preview, group, mentions, ...rest } =
    server.row(me, log);
  expect(row?.mentions ?? []).toEqual(mentions);
  expect(row?.pinnedMessages ?? []).toEqual(rest.pinnedMessages);
  expect(row).toMatchObject({ unread, delivered, read, othersDelivered, othersRead, muted, kept, preview });
  expect(row).toMatchObject({ group, gone: false, open: log.open });
};

export const waitUntilDeviceSynced = (server: ModelServer, tab: SyncClient, id: ConversationId): Promise<void> =>
  eventually(() => expectSynced(server, tab, id));
