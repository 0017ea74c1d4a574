import { expect, it, vi } from "vitest";
import { type ConversationId, createUuid, type Uuid } from "#contract/ids.ts";
import { toPromise, UnsentDatabase } from "#lib/unsent/unsent-database.ts";
import { UnsentJournal } from "#lib/unsent/unsent-journal.ts";
import { insertUnsent, noteSent } from "#sw/unsent-messages.ts";
import type { SyncClient } from "#sync/engine/sync-client.ts";
import { discardUnsentMessage } from "#sync/sending/discard-message.ts";
import { enqueueText } from "#sync/sending/enqueue.ts";
import { purgeJournal } from "#sync/store/journal.ts";
import { deleteAllButUnsent, deleteAllData } from "#sync/store/open-database.ts";
import { listOutbox } from "#sync/unsent/messages.ts";
import type { OutboxRow, ReadRow } from "#sync/unsent/outbox-row.ts";
import { eventually } from "#tests/support/model/eventually.ts";
import { expectSynced, getContext, listShown, waitUntilDeviceSynced } from "#tests/support/model/model-checks.ts";
import type { ModelDevice } from "#tests/support/model/model-device.ts";
import { makeDevice, makePair } from "#tests/support/model/model-fixtures.ts";

const makePhone = () => {
  const { server, amina, benoit, chat } = makePair();
  return { server, benoit, chat, phone: makeDevice(server, amina) };
};

/** Calls a function of the service worker with the database and the channels of a device. */
const callWorker = <T>({ indexedDB, number }: ModelDevice, call: () => Promise<T>): Promise<T> => {
  class DeviceChannel extends BroadcastChannel {
    constructor(name: string) {
      super(`${name} on device ${number}`);
    }
  }
  vi.stubGlobal("indexedDB", indexedDB);
  vi.stubGlobal("BroadcastChannel", DeviceChannel);
  const result = call(); // it opens both at once
  vi.unstubAllGlobals();
  return result;
};

/** Stores replies that were entered in the notification of a conversation without a message. */
const storeReplies = async (phone: ModelDevice, conversation: ConversationId, ...texts: string[]): Promise<Uuid[]> => {
  const replies = texts.map((text) => ({ cid: createUuid(), text }));
  await callWorker(phone, () => insertUnsent(phone.user, { conversation, head: 0 }, replies));
  return replies.map(({ cid }) => cid);
};

const storeRead = (phone: ModelDevice, conversation: ConversationId, head: number) =>
  callWorker(phone, () => insertUnsent(phone.user, { conversation, head }, []));

const noteAsSent = (phone: ModelDevice, cid: Uuid, epoch: string, seq: number) =>
  callWorker(phone, () => noteSent(phone.user, new Map([[cid, { epoch, seq, at: phone.now() }]])));

/** Sends a stored reply, as the service worker does. */
const sendAsWorker = (phone: ModelDevice, conversation: ConversationId, cid: Uuid, text: string) =>
  phone.platform().request({
    method: "POST",
    path: `/api/conversations/${conversation}/messages`,
    body: { messages: [{ cid, body: { type: "text", text } }] },
  });

/** Texts of the messages and heads of the reads that are stored. */
const listStored = async (phone: ModelDevice): Promise<unknown[]> => {
  const { indexedDB, user } = phone;
  const database = new UnsentDatabase(user, { indexedDB, openChannel: () => undefined });
  const [messages, reads]: [OutboxRow[], ReadRow[]] = await database.read(["outbox", "reads"], (access) =>
    Promise.all([toPromise(access("outbox").getAll()), toPromise(access("reads").getAll())]),
  );
  database.close();
  return [...messages.map(({ body }) => ("text" in body ? body.text : body.type)), ...reads.map(({ head }) => head)];
};

const hasUnsent = async ({ indexedDB }: ModelDevice) =>
  (await indexedDB.databases()).some(({ name }) => name?.endsWith("-unsent"));

const countUnread = async (tab: SyncClient, chat: ConversationId) =>
  (await getContext(tab).store.conversations.get(chat))?.unread;

/** What the page does when the service worker has told that it stored or sent something. */
const handleWorkerMessage = async (tab: SyncClient): Promise<void> => {
  await tab.unsent.refresh();
  tab.notifyChanged("outbox");
};

/** Device with one message that was written offline; its page is closed. */
const makePhoneWithUnsent = async () => {
  const world = makePhone();
  const { server, chat, phone } = world;
  const tab = await phone.openTab();
  await waitUntilDeviceSynced(server, tab, chat);
  phone.faults.isOffline = true;
  await enqueueText(tab, chat, "one");
  const cid = listOutbox(tab.unsent)[0]?.cid ?? "";
  await phone.close(tab);
  return { ...world, cid };
};

it("the app sends the replies that its service worker could not send, in their order", async () => {
  const { server, chat, phone } = makePhone();
  const cids = await storeReplies(phone, chat, "one", "two");
  const tab = await phone.openTab();
  expect(await listShown(tab, chat)).toEqual(["one sending", "two sending"]);
  await waitUntilDeviceSynced(server, tab, chat);
  expect(await listShown(tab, chat)).toEqual(["one sent", "two sent"]);
  expect(server.log(chat).messages.map(({ cid }) => cid)).toEqual(cids);
  await eventually(async () => expect(await listStored(phone)).toEqual([]));
});

it("the app sends the replies after what it had not sent itself", async () => {
  const { server, chat, phone } = await makePhoneWithUnsent();
  await storeReplies(phone, chat, "two");
  phone.faults.isOffline = false;
  const tab = await phone.openTab();
  await enqueueText(tab, chat, "three");
  await waitUntilDeviceSynced(server, tab, chat);
  expect(await listShown(tab, chat)).toEqual(["one sent", "two sent", "three sent"]);
});

it("a reply that is stored while the app is open is shown and sent by it", async () => {
  const { server, chat, phone } = makePhone();
  const [tab, other] = [await phone.openTab(), await phone.openTab()];
  await waitUntilDeviceSynced(server, tab, chat);
  await storeReplies(phone, chat, "one");
  for (const page of [tab, other]) await eventually(async () => expect(await listShown(page, chat)).toHaveLength(1));
  await handleWorkerMessage(other);
  await waitUntilDeviceSynced(server, tab, chat);
  expect(await listShown(tab, chat)).toEqual(["one sent"]);
  expect(server.log(chat).messages).toHaveLength(1);
});

it("a reply that the service worker sends at the same time is stored once", async () => {
  const { server, chat, phone } = makePhone();
  const [cid = ""] = await storeReplies(phone, chat, "one");
  await sendAsWorker(phone, chat, cid, "one"); // it could not note the answer
  const tab = await phone.openTab();
  await waitUntilDeviceSynced(server, tab, chat);
  expect(await listShown(tab, chat)).toEqual(["one sent"]);
  expect(server.log(chat).messages).toHaveLength(1);
});

it("a message that the service worker sent is shown as sent and stored in its place without a network", async () => {
  const { server, chat, phone, cid } = await makePhoneWithUnsent();
  await noteAsSent(phone, cid, server.log(chat).epoch, 1);
  const tab = await phone.openTab();
  expect(await listShown(tab, chat)).toEqual(["one sent"]);
  await eventually(async () => {
    expect(await getContext(tab).store.messages.toArray()).toMatchObject([{ conversation: chat, seq: 1, cid }]);
    expect(await listStored(phone)).toEqual([]);
  });
  expect(await listShown(tab, chat)).toEqual(["one sent"]);
  expect(new UnsentJournal(phone.user, phone.localStorage, "reader").list()).toEqual([]);
});

it("a message that the service worker sends while the app is open gets its ticks, and nobody sends it again", async () => {
  const { server, chat, phone } = makePhone();
  const tab = await phone.openTab();
  await waitUntilDeviceSynced(server, tab, chat);
  phone.faults.isOffline = true;
  for (const socket of server.inbox(phone.user).sockets) socket.end(1006);
  await enqueueText(tab, chat, "one");
  const cid = listOutbox(tab.unsent)[0]?.cid ?? "";
  phone.faults.isOffline = false;
  await sendAsWorker(phone, chat, cid, "one");
  phone.faults.isOffline = true;
  await noteAsSent(phone, cid, server.log(chat).epoch, 1);
  await eventually(async () => expect(await listShown(tab, chat)).toEqual(["one sent"]));
  const before = phone.requests.length;
  await handleWorkerMessage(tab);
  await eventually(async () => expect(await listStored(phone)).toEqual([]));
  phone.faults.isOffline = false;
  phone.wake();
  await waitUntilDeviceSynced(server, tab, chat);
  const isSending = ({ method, path }: { method: string; path: string }) =>
    method === "POST" && path.endsWith("/messages");
  expect(phone.requests.slice(before).filter(isSending)).toEqual([]);
  expect(server.log(chat).messages).toHaveLength(1);
});

it("what the service worker has sent is not sent by the app, which stores it meanwhile", async () => {
  const { server, chat, phone } = makePhone();
  const tab = await phone.openTab();
  await waitUntilDeviceSynced(server, tab, chat);
  const commands: string[] = [];
  server.refuse = (_, { type }) => {
    commands.push(type);
    return undefined;
  };
  const [cid = ""] = await storeReplies(phone, chat, "one");
  await noteAsSent(phone, cid, server.log(chat).epoch, 1);
  await handleWorkerMessage(tab);
  await eventually(async () => expect(await listStored(phone)).toEqual([]));
  expect(commands).toContain("mark");
  expect(commands).not.toContain("send");
});

it("a message that the service worker sent to another log than this device's is sent once more", async () => {
  const { server, chat, phone, cid } = await makePhoneWithUnsent();
  await noteAsSent(phone, cid, "of another log", 1);
  const tab = await phone.openTab();
  await eventually(async () => expect(await listShown(tab, chat)).toEqual(["one sending"]));
  phone.faults.isOffline = false;
  phone.wake();
  await waitUntilDeviceSynced(server, tab, chat);
  expect(await listShown(tab, chat)).toEqual(["one sent"]);
  expect(server.log(chat).messages.map((message) => message.cid)).toEqual([cid]);
});

it("a message that its author deletes after the service worker sent it is deleted for everyone", async () => {
  const { server, chat, phone, cid } = await makePhoneWithUnsent();
  phone.faults.isOffline = false;
  await sendAsWorker(phone, chat, cid, "one");
  phone.faults.isOffline = true;
  const tab = await phone.openTab();
  await discardUnsentMessage(tab, cid);
  expect(await listShown(tab, chat)).toEqual([]);
  phone.faults.isOffline = false;
  phone.wake();
  await eventually(() => expect(server.log(chat).messages).toMatchObject([{ body: { type: "deleted" } }]));
});

it("a conversation that was read in its notification without a network is read after the next start", async () => {
  const { server, benoit, chat, phone } = makePhone();
  server.sendTexts(benoit, chat, "mbote");
  await storeRead(phone, chat, 1);
  const tab = await phone.openTab();
  await eventually(async () => expect(await countUnread(tab, chat)).toBe(0));
  await expectSynced(server, tab, chat);
  await eventually(async () => expect(await listStored(phone)).toEqual([]));
});

it("a conversation that is read in its notification while the app is open is read at once", async () => {
  const { server, benoit, chat, phone } = makePhone();
  const tab = await phone.openTab();
  server.sendTexts(benoit, chat, "mbote");
  await eventually(async () => expect(await countUnread(tab, chat)).toBe(1));
  await storeRead(phone, chat, 1);
  await handleWorkerMessage(tab);
  await eventually(async () => expect(await countUnread(tab, chat)).toBe(0));
  await eventually(async () => expect(await listStored(phone)).toEqual([]));
});

it("what cannot be sent now stays", async () => {
  const { server, benoit, chat, phone } = makePhone();
  server.sendTexts(benoit, chat, "mbote");
  phone.faults.isOffline = true;
  await storeReplies(phone, chat, "one");
  await storeRead(phone, chat, 1);
  const tab = await phone.openTab();
  await eventually(() => expect(phone.requests.some(({ path }) => path.endsWith("/marks"))).toBe(true));
  expect(await listShown(tab, chat)).toEqual(["one sending"]);
  expect(await listStored(phone)).toEqual(["one", 1]);
  phone.faults.isOffline = false;
  phone.wake();
  await eventually(async () => expect(await listStored(phone)).toEqual([]));
  expect(await countUnread(tab, chat)).toBe(0);
});

it("a later read position that is stored while an earlier one is reported is reported too", async () => {
  const { server, benoit, chat, phone } = makePhone();
  server.sendTexts(benoit, chat, "mbote", "na yo");
  await storeRead(phone, chat, 1);
  phone.answerMs = 1_000;
  phone.shouldLose = ({ path }, what) => {
    if (what === "request" && path.endsWith("/marks")) void storeRead(phone, chat, 2); // before the answer
    return false;
  };
  const tab = await phone.openTab();
  await eventually(async () => {
    expect(await countUnread(tab, chat)).toBe(0);
    expect(await listStored(phone)).toEqual([]);
  });
});

it("a read position that the server refuses for good is dropped", async () => {
  const { server, chat, phone } = makePhone();
  server.refuse = (_, command) => (command.type === "mark" ? { error: "conversation_not_found" } : undefined);
  await storeRead(phone, chat, 1);
  await phone.openTab();
  await eventually(async () => expect(await listStored(phone)).toEqual([]));
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
  await storeReplies(phone, chat, "one");
  await storeRead(phone, chat, 1);
  await deleteAllButUnsent(phone.platform(), phone.user);
  expect(await listStored(phone)).toEqual(["one"]);
  purgeJournal({ platform: phone.platform(), me: phone.user });
  await deleteAllData(phone.platform(), phone.user);
  expect(await hasUnsent(phone)).toBe(false);
});
