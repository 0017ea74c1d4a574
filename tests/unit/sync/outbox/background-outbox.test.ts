import { expect, it } from "vitest";
import { type ConversationId, createUuid } from "#contract/ids.ts";
import { type BackgroundEntry, BackgroundOutbox } from "#lib/browser/push/background-outbox.ts";
import { recoverBackgroundOutbox } from "#sync/sending/background-outbox-recovery.ts";
import { enqueueText } from "#sync/sending/enqueue.ts";
import { deleteAllStores, purgeAllButUnsent } from "#sync/store/recovery/open-database.ts";
import { eventually } from "#tests/support/model/eventually.ts";
import { expectSynced, getContext, listShown, waitUntilDeviceSynced } from "#tests/support/model/model-checks.ts";
import type { ModelDevice } from "#tests/support/model/model-device.ts";
import { makeDevice, makePair } from "#tests/support/model/model-fixtures.ts";

const makePhone = () => {
  const { server, amina, benoit, chat } = makePair();
  return { server, benoit, chat, phone: makeDevice(server, amina) };
};

const openOutbox = ({ indexedDB, user }: ModelDevice) =>
  new BackgroundOutbox(user, { indexedDB, locks: navigator.locks });
const toReply = (conversation: ConversationId, text: string): BackgroundEntry => ({
  type: "reply",
  cid: createUuid(),
  conversation,
  text,
});
const hasOutbox = async ({ indexedDB }: ModelDevice) =>
  (await indexedDB.databases()).some(({ name }) => name?.endsWith("-background"));

it("the app sends the replies that its service worker could not send, in their order", async () => {
  const { server, chat, phone } = makePhone();
  await openOutbox(phone).insert([toReply(chat, "one"), toReply(chat, "two")]);
  const tab = await phone.openTab();
  await recoverBackgroundOutbox(tab);
  await waitUntilDeviceSynced(server, tab, chat);
  expect(await listShown(tab, chat)).toEqual(["one sent", "two sent"]);
  expect(await hasOutbox(phone)).toBe(false);
});

it("a reply that the service worker sends at the same time is stored once", async () => {
  const { server, chat, phone } = makePhone();
  const reply = { type: "reply", cid: createUuid(), conversation: chat, text: "one" } as const;
  await openOutbox(phone).insert([reply]);
  await phone.platform().request({
    method: "POST",
    path: `/api/conversations/${chat}/messages`,
    body: { messages: [{ cid: reply.cid, body: { type: "text", text: reply.text } }] },
  });
  const tab = await phone.openTab();
  await recoverBackgroundOutbox(tab);
  await waitUntilDeviceSynced(server, tab, chat);
  expect(await listShown(tab, chat)).toEqual(["one sent"]);
  expect(server.log(chat).messages).toHaveLength(1);
});

it("a message that the service worker sent from the app's outbox is shown as sent without a network", async () => {
  const { server, chat, phone } = makePhone();
  const first = await phone.openTab();
  await waitUntilDeviceSynced(server, first, chat);
  phone.faults.isOffline = true;
  await enqueueText(first, chat, "one");
  const [row] = await getContext(first).store.outbox.toArray();
  await phone.close(first);
  if (!row) throw new Error("nothing is unsent");
  const { epoch } = server.log(chat);
  await openOutbox(phone).insert([{ type: "sent", cid: row.cid, conversation: chat, place: { epoch, seq: 1, at: 1 } }]);
  const tab = await phone.openTab();
  expect(await listShown(tab, chat)).toEqual(["one sending"]);
  await recoverBackgroundOutbox(tab);
  expect(await listShown(tab, chat)).toEqual(["one sent"]);
});

it("a conversation that was read in its notification without a network is read after the next start", async () => {
  const { server, benoit, chat, phone } = makePhone();
  server.sendTexts(benoit, chat, "mbote");
  await openOutbox(phone).insert([{ type: "read", conversation: chat, head: 1 }]);
  const tab = await phone.openTab();
  await eventually(async () => expect((await getContext(tab).store.conversations.get(chat))?.unread).toBe(1));
  await recoverBackgroundOutbox(tab);
  await eventually(async () => expect((await getContext(tab).store.conversations.get(chat))?.unread).toBe(0));
  await expectSynced(server, tab, chat);
  expect(await hasOutbox(phone)).toBe(false);
});

it("what cannot be taken over now stays", async () => {
  const { chat, phone } = makePhone();
  phone.faults.isOffline = true;
  await openOutbox(phone).insert([{ type: "read", conversation: chat, head: 1 }, toReply(chat, "one")]);
  const tab = await phone.openTab();
  await recoverBackgroundOutbox(tab);
  expect(await listShown(tab, chat)).toEqual(["one sending"]);
  expect((await openOutbox(phone).list()).map(({ entry }) => entry.type)).toEqual(["read"]);
});

it("a read position that the server refuses for good is dropped", async () => {
  const { server, chat, phone } = makePhone();
  server.refuse = (_, command) => (command.type === "mark" ? { error: "conversation_not_found" } : undefined);
  await openOutbox(phone).insert([{ type: "read", conversation: chat, head: 1 }]);
  await recoverBackgroundOutbox(await phone.openTab());
  expect(await hasOutbox(phone)).toBe(false);
});

it("the app asks for a sync event when it is left with unsent messages, and only then", async () => {
  const { server, chat, phone } = makePhone();
  const tab = await phone.openTab();
  await waitUntilDeviceSynced(server, tab, chat);
  await eventually(() => expect(tab.link.get()).toBe("online"));
  await enqueueText(tab, chat, "one");
  await waitUntilDeviceSynced(server, tab, chat);
  phone.enterBackground();
  await new Promise((resolve) => setTimeout(resolve, 20));
  expect(phone.outboxSyncRequests).toBe(0);
  server.refuse = (_, command) => (command.type === "send" ? { error: "unavailable" } : undefined);
  await enqueueText(tab, chat, "two");
  phone.enterBackground();
  await eventually(() => expect(phone.outboxSyncRequests).toBe(1));
});

it("the app asks for a sync event for a message that is written without a connection", async () => {
  const { chat, phone } = makePhone();
  phone.faults.isOffline = true;
  const tab = await phone.openTab();
  await enqueueText(tab, chat, "one");
  await eventually(() => expect(phone.outboxSyncRequests).toBeGreaterThan(0));
});

it("the app asks for a sync event for a message that was written before it noticed the lost connection", async () => {
  const { chat, phone } = makePhone();
  const tab = await phone.openTab();
  await eventually(() => expect(tab.link.get()).toBe("online"));
  phone.faults.blackhole = true;
  await enqueueText(tab, chat, "one");
  expect([tab.link.get(), phone.outboxSyncRequests]).toEqual(["online", 0]);
  await eventually(() => expect(tab.link.get()).not.toBe("online"));
  await eventually(() => expect(phone.outboxSyncRequests).toBeGreaterThan(0));
});

it("a sign-out deletes unsent replies, a session ended elsewhere keeps them for their author", async () => {
  const { chat, phone } = makePhone();
  await openOutbox(phone).insert([toReply(chat, "one")]);
  await purgeAllButUnsent(phone.platform(), phone.user);
  expect(await openOutbox(phone).list()).toHaveLength(1);
  await deleteAllStores(phone.platform(), phone.user);
  expect(await hasOutbox(phone)).toBe(false);
});
