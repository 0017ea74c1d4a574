import { expect } from "vitest";
import type { ConversationId } from "#contract/ids.ts";
import { readChat, readConversations } from "#sync/queries/queries.ts";
import type { Tab } from "#sync/tabs/tab.ts";
import { eventually } from "./eventually.ts";
import { headOf, toMember } from "./model-log.ts";
import type { ModelServer } from "./model-server.ts";

const everything = 100_000;

export const contextOf = (tab: Tab) => {
  const context = tab.context.get();
  if (!context) throw new Error("the tab's store is not open");
  return context;
};

/** What a chat shows, oldest first: the texts with their ticks. */
export const shownIn = async (tab: Tab, id: ConversationId): Promise<string[]> => {
  const { items } = await readChat(contextOf(tab).store, id, everything);
  return items
    .map(({ body, status, mine }) => `${body.type === "text" ? body.text : body.type}${mine ? ` ${status}` : ""}`)
    .reverse();
};

export const textsIn = async (tab: Tab, id: ConversationId): Promise<string[]> => {
  const { items } = await readChat(contextOf(tab).store, id, everything);
  return items.map(({ body }) => (body.type === "text" ? body.text : body.type)).reverse();
};

export const listOf = async (tab: Tab) => {
  const { store, me } = contextOf(tab);
  return (await readConversations(store, me, everything)) ?? [];
};

/** The device holds the newest part of the log, in one piece, exactly as it is on the server, and nothing else. */
export const expectLevel = async (server: ModelServer, tab: Tab, id: ConversationId): Promise<void> => {
  const { store, me } = contextOf(tab);
  const log = server.log(id);
  expect((await store.queryUnsent(id).toArray()).filter(({ state }) => state !== "failed")).toEqual([]);
  const row = await store.conversations.get(id);
  const head = headOf(log, me);
  const { epoch, revision } = log;
  expect(row).toMatchObject({ head, hi: head, epoch, revision, revised: revision });
  const held = await store.queryMessages(id, 0).toArray();
  const expected = log.messages
    .filter(({ seq }) => seq >= (row?.lo ?? 1) && seq <= head)
    .map((message) => ({ ...toMember(message, me), mine: message.author === me ? 1 : 0 }))
    .map(({ seq, mine, body, held }) => ({ seq, mine, body, held }));
  expect(held.map(({ seq, mine, body, held }) => ({ seq, mine, body, held }))).toEqual(expected);
  const { unread, delivered, read, othersDelivered, othersRead, muted, kept, preview, group } = server.row(me, log);
  expect(row).toMatchObject({ unread, delivered, read, othersDelivered, othersRead, muted, kept, preview });
  expect(row).toMatchObject({ group, gone: false, open: log.open });
};

export const becomesLevel = (server: ModelServer, tab: Tab, id: ConversationId): Promise<void> =>
  eventually(() => expectLevel(server, tab, id));
