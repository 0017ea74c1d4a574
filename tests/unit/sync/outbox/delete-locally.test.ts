import { IDBObjectStore } from "fake-indexeddb";
import { afterEach, describe, expect, it, vi } from "vitest";
import type { ConversationId } from "#contract/ids.ts";
import { findAttachment } from "#contract/messages/body.ts";
import { deleteMessageByClientId, deleteMessageBySeq } from "#sync/commands/conversation-commands.ts";
import { readUnsentSummary } from "#sync/drafts/unsent-summary.ts";
import type { SyncClient } from "#sync/engine/sync-client.ts";
import { applyServerChanges } from "#sync/inbound/apply/apply-server-changes.ts";
import { toChatItem } from "#sync/queries/chat-messages.ts";
import { enqueueText } from "#sync/sending/enqueue.ts";
import { enqueueFiles } from "#sync/sending/files/send-files.ts";
import { enqueueForward } from "#sync/sending/multicast.ts";
import { deleteAllButUnsent } from "#sync/store/open-database.ts";
import { listOutbox } from "#sync/unsent/messages.ts";
import { unsentDeletions } from "#sync/unsent/operations.ts";
import { eventually } from "#tests/support/model/eventually.ts";
import {
  getContext,
  listConversations,
  listShown,
  listTexts,
  waitUntilDeviceSynced,
} from "#tests/support/model/model-checks.ts";
import type { ModelDevice } from "#tests/support/model/model-device.ts";
import { makeDevice, makeGroup, makePair } from "#tests/support/model/model-fixtures.ts";
import { toVisibleMessage } from "#tests/support/model/model-log.ts";
import type { ModelServer } from "#tests/support/model/model-server.ts";

afterEach(() => {
  vi.restoreAllMocks();
});

const bodiesIn = (server: ModelServer, chat: ConversationId) =>
  server.log(chat).messages.map(({ body }) => (body.type === "text" ? body.text : body.type));

const notesOf = (tab: SyncClient) => unsentDeletions.list(getContext(tab).unsent);

const isForgotten = (tab: SyncClient) => eventually(async () => expect(await notesOf(tab)).toEqual([]));

const loseNetwork = async (phone: ModelDevice): Promise<void> => {
  phone.faults.isOffline = true;
  for (const socket of phone.server.inbox(phone.user).sockets) socket.end(1006);
  for (const tab of phone.tabs) await eventually(() => expect(tab.link.get()).not.toBe("online"));
};

const findNetwork = (phone: ModelDevice): void => {
  phone.faults.isOffline = false;
  phone.wake();
};

/** A chat with a message she regrets, read by him, and her phone offline. */
const makeRegret = async () => {
  const { server, amina, benoit, chat } = makePair();
  const phone = makeDevice(server, amina);
  const tab = await phone.openTab();
  server.sendTexts(benoit, chat, "Mbote");
  await waitUntilDeviceSynced(server, tab, chat);
  await enqueueText(tab, chat, "regretted");
  await waitUntilDeviceSynced(server, tab, chat);
  await loseNetwork(phone);
  return { server, amina, benoit, chat, phone, tab };
};

const withdrawals = (server: ModelServer) =>
  server.executedCommands.filter(({ command }) => command.type === "deletePending");

describe("a message deleted offline", () => {
  it("is deleted here at once, in the chat, in the list and in the other tab, and for everybody once online", async () => {
    const { server, benoit, chat, phone, tab } = await makeRegret();
    const other = await phone.openTab();
    const benoitTab = await makeDevice(server, benoit).openTab();
    await waitUntilDeviceSynced(server, benoitTab, chat);
    const asked = phone.requests.length;
    await deleteMessageBySeq(tab, chat, 2);
    expect(phone.requests.slice(asked).filter(({ method }) => method === "DELETE")).toEqual([]);
    expect(await readUnsentSummary(getContext(tab))).toMatchObject({ deletions: 1 });
    for (const one of [tab, other]) {
      expect(await listTexts(one, chat)).toEqual(["Mbote", "deleted"]);
      expect((await listConversations(one))[0]).toMatchObject({ last: { body: { type: "deleted" } } });
    }
    findNetwork(phone);
    for (const one of [tab, other, benoitTab]) await waitUntilDeviceSynced(server, one, chat);
    expect(await listTexts(benoitTab, chat)).toEqual(["Mbote", "deleted"]);
    await isForgotten(tab);
    expect(withdrawals(server)).toHaveLength(1);
  });

  it.each([
    ["the page is left", false],
    ["the session ends", true],
  ])("is deleted for everybody though %s before that", async (_, isSignedOut) => {
    const { server, amina, chat, phone, tab } = await makeRegret();
    await deleteMessageBySeq(tab, chat, 2);
    await phone.kill(tab);
    if (isSignedOut) await deleteAllButUnsent(phone.platform(), amina);
    phone.faults.isOffline = false;
    const next = await phone.openTab();
    await eventually(() => expect(bodiesIn(server, chat)).toEqual(["Mbote", "deleted"]));
    await waitUntilDeviceSynced(server, next, chat);
    await isForgotten(next);
  });

  it("is not restored by data of the server", async () => {
    const { server, amina, benoit, chat, phone, tab } = await makeRegret();
    await deleteMessageBySeq(tab, chat, 2);
    server.refuse = (_, { type }) => (type === "deletePending" ? { error: "unavailable" } : undefined);
    findNetwork(phone);
    server.sendTexts(benoit, chat, "Allô ?");
    await eventually(async () => expect(await listTexts(tab, chat)).toEqual(["Mbote", "deleted", "Allô ?"]));
    expect(bodiesIn(server, chat)).toEqual(["Mbote", "regretted", "Allô ?"]);
    // Nor by a repeated row without a change in that chat.
    const messages = server.log(chat).messages.map((message) => toVisibleMessage(message, amina));
    await applyServerChanges(getContext(tab), [{ type: "messages", target: chat, messages }]);
    expect(await listTexts(tab, chat)).toEqual(["Mbote", "deleted", "Allô ?"]);
    server.refuse = () => undefined;
    await isForgotten(tab);
    await waitUntilDeviceSynced(server, tab, chat);
    expect(bodiesIn(server, chat)).toEqual(["Mbote", "deleted", "Allô ?"]);
  });

  it("releases its file", async () => {
    const { server, amina, chat } = makePair();
    const phone = makeDevice(server, amina);
    const tab = await phone.openTab();
    const { store } = getContext(tab);
    const body = { type: "file", name: "a.bin", mime: "application/octet-stream", size: 500 } as const;
    await enqueueFiles(tab, [chat], [{ blob: new Blob([new Uint8Array(500)]), body }]);
    await waitUntilDeviceSynced(server, tab, chat);
    const file = findAttachment((await store.messages.get([chat, 1]))?.body ?? { type: "deleted" })?.file ?? "";
    expect(await store.blobs.get(file)).toBeDefined();
    await loseNetwork(phone);
    await deleteMessageBySeq(tab, chat, 1);
    expect([await store.files.get(file), await store.blobs.get(file)]).toEqual([undefined, undefined]);
  });

  it("from two tabs at once is sent once, and changes nothing if another device deleted it", async () => {
    const { server, amina, chat, phone, tab } = await makeRegret();
    const other = await phone.openTab();
    await Promise.all([deleteMessageBySeq(tab, chat, 2), deleteMessageBySeq(other, chat, 2)]);
    expect(await notesOf(tab)).toHaveLength(1);
    server.execute(amina, { type: "deleteForEveryone", conversation: chat, seq: 2 });
    findNetwork(phone);
    await isForgotten(tab);
    for (const one of [tab, other]) await waitUntilDeviceSynced(server, one, chat);
    expect(server.log(chat).revision).toBe(1);
    expect(withdrawals(server)).toHaveLength(1);
    await loseNetwork(phone);
    await deleteMessageBySeq(tab, chat, 2);
    expect(await notesOf(tab)).toEqual([]);
  });

  it("that arrived while its author was asked is deleted as well", async () => {
    const { server, chat, phone, tab } = await makeRegret();
    const { cid = "" } = (await getContext(tab).store.messages.get([chat, 2])) ?? {};
    await deleteMessageByClientId(tab, chat, cid);
    expect(await listTexts(tab, chat)).toEqual(["Mbote", "deleted"]);
    findNetwork(phone);
    await waitUntilDeviceSynced(server, tab, chat);
    expect(bodiesIn(server, chat)).toEqual(["Mbote", "deleted"]);
  });

  it("keeps unsent forwards of it on its author's phone", async () => {
    const { server, amina, withBenoit, group } = makeGroup();
    const phone = makeDevice(server, amina);
    const tab = await phone.openTab();
    await waitUntilDeviceSynced(server, tab, withBenoit);
    await enqueueText(tab, withBenoit, "regretted");
    await waitUntilDeviceSynced(server, tab, withBenoit);
    await loseNetwork(phone);
    const held = await getContext(tab).store.messages.get([withBenoit, 1]);
    if (!held) throw new Error("nothing there");
    const item = toChatItem(undefined, held);
    await enqueueForward(tab, withBenoit, item, [group]);
    await deleteMessageBySeq(tab, withBenoit, 1);
    server.refuse = (_, { type }) => (type === "send" ? { error: "unavailable" } : undefined);
    findNetwork(phone);
    await isForgotten(tab);
    server.refuse = () => undefined;
    await eventually(async () => expect((await listShown(tab, group)).at(-1)).toBe("regretted failed"));
    expect(bodiesIn(server, group)).not.toContain("regretted");
    expect(listOutbox(tab.unsent)).toMatchObject([{ error: "original_gone" }]);
  });

  it("shows the server's version again if its author may not delete it any more", async () => {
    const { server, chat, phone, tab } = await makeRegret();
    await deleteMessageBySeq(tab, chat, 2);
    let isReadable = false;
    server.refuse = (_, { type }) => {
      if (type === "deletePending") return { error: "message_not_found" };
      return type === "page" && !isReadable ? { error: "unavailable" } : undefined;
    };
    findNetwork(phone);
    await eventually(() => expect(withdrawals(server).length).toBeGreaterThan(0));
    expect(await listTexts(tab, chat)).toEqual(["Mbote", "deleted"]);
    isReadable = true;
    await isForgotten(tab);
    expect(await listShown(tab, chat)).toEqual(["Mbote", expect.stringMatching(/^regretted /)]);
    expect((await listConversations(tab))[0]).toMatchObject({ last: { body: { text: "regretted" } } });
    await waitUntilDeviceSynced(server, tab, chat);
  });
});

describe("a message deleted while the server does not answer", () => {
  it.each([
    ["is silent", undefined],
    ["can take nothing", "unavailable"],
    ["is asked too often", "rate_limited"],
  ] as const)("is deleted here, and later on the server if it %s", async (_, error) => {
    const { server, chat, phone, tab } = await makeRegret();
    findNetwork(phone);
    await eventually(() => expect(tab.link.get()).toBe("online"));
    const { request } = tab.platform;
    const ask = vi.spyOn(tab.platform, "request");
    if (error) server.refuse = (__, { type }) => (type === "deleteForEveryone" ? { error } : undefined);
    else
      ask.mockImplementation((asked, options) =>
        asked.method === "DELETE" ? new Promise(() => {}) : request(asked, options),
      );
    await deleteMessageBySeq(tab, chat, 2);
    expect(await listTexts(tab, chat)).toEqual(["Mbote", "deleted"]);
    await waitUntilDeviceSynced(server, tab, chat);
    await isForgotten(tab);
    expect(bodiesIn(server, chat)).toEqual(["Mbote", "deleted"]);
  });

  it("is deleted here as soon as it is known that there is no network", async () => {
    const { chat, phone, tab } = await makeRegret();
    findNetwork(phone);
    await eventually(() => expect(tab.link.get()).toBe("online"));
    phone.faults.isOffline = true;
    vi.spyOn(tab.platform, "startTimer").mockReturnValue(() => {}); // without a wait
    await deleteMessageBySeq(tab, chat, 2);
    expect(tab.link.get()).toBe("online");
    expect(await listTexts(tab, chat)).toEqual(["Mbote", "deleted"]);
  });

  it("is deleted once if only the answer and its notice were lost", async () => {
    const { server, chat, phone, tab } = await makeRegret();
    findNetwork(phone);
    await eventually(() => expect(tab.link.get()).toBe("online"));
    phone.faults.dropDown = 1;
    phone.shouldLose = ({ method }, what) => method === "DELETE" && what === "answer";
    await deleteMessageBySeq(tab, chat, 2);
    expect(await listTexts(tab, chat)).toEqual(["Mbote", "deleted"]);
    phone.faults.dropDown = 0;
    phone.wake();
    await isForgotten(tab);
    await waitUntilDeviceSynced(server, tab, chat);
    expect(server.log(chat).revision).toBe(1);
  });

  it("is not deleted here if the server refuses", async () => {
    const { server, chat, phone, tab } = await makeRegret();
    findNetwork(phone);
    await eventually(() => expect(tab.link.get()).toBe("online"));
    server.refuse = (_, { type }) => (type === "deleteForEveryone" ? { error: "message_not_found" } : undefined);
    await expect(deleteMessageBySeq(tab, chat, 2)).rejects.toMatchObject({ code: "message_not_found" });
    expect(await listTexts(tab, chat)).toEqual(["Mbote", "regretted"]);
  });
});

describe("an offline deletion that cannot be stored", () => {
  it("on a full phone reports the missing network, and shows the message", async () => {
    const { chat, tab } = await makeRegret();
    vi.spyOn(tab.unsent, "journalPending").mockReturnValue(false);
    const { put } = IDBObjectStore.prototype;
    vi.spyOn(IDBObjectStore.prototype, "put").mockImplementation(function (this: IDBObjectStore, ...args) {
      if (this.name === "operations") throw new DOMException("full", "QuotaExceededError");
      return put.apply(this, args);
    });
    await expect(deleteMessageBySeq(tab, chat, 2)).rejects.toMatchObject({ code: "offline" });
    expect(await listTexts(tab, chat)).toEqual(["Mbote", "regretted"]);
    expect(await notesOf(tab)).toEqual([]);
  });

  it("reports it also on a phone without storage, and for a message without a known client id", async () => {
    const { chat, tab } = await makeRegret();
    tab.storageTrouble.set("memory");
    await expect(deleteMessageBySeq(tab, chat, 2)).rejects.toMatchObject({ code: "offline" });
    tab.storageTrouble.set(undefined);
    const { store } = getContext(tab);
    await store.messages
      .where("[conversation+seq]")
      .equals([chat, 2])
      .modify((row) => {
        delete row.cid;
      });
    await expect(deleteMessageBySeq(tab, chat, 2)).rejects.toMatchObject({ code: "offline" });
    expect(await listTexts(tab, chat)).toEqual(["Mbote", "regretted"]);
    expect(await notesOf(tab)).toEqual([]);
  });
});

describe("a member's message that the owner of the group deletes", () => {
  it("becomes a tombstone and a system message here and on its author's device", async () => {
    const { server, amina, benoit, group } = makeGroup();
    server.sendTexts(benoit, group, "secret");
    const tab = await makeDevice(server, amina).openTab();
    const authorTab = await makeDevice(server, benoit).openTab();
    for (const one of [tab, authorTab]) await waitUntilDeviceSynced(server, one, group);
    await deleteMessageBySeq(tab, group, 2);
    for (const one of [tab, authorTab]) {
      await waitUntilDeviceSynced(server, one, group);
      expect(await listTexts(one, group)).toEqual(["event", "deleted", "event"]);
    }
  });

  it("stays as it is without a network, and the owner is told", async () => {
    const { server, amina, benoit, group } = makeGroup();
    server.sendTexts(benoit, group, "secret");
    const phone = makeDevice(server, amina);
    const tab = await phone.openTab();
    await waitUntilDeviceSynced(server, tab, group);
    await loseNetwork(phone);
    await expect(deleteMessageBySeq(tab, group, 2)).rejects.toMatchObject({ code: "offline" });
    expect(await listTexts(tab, group)).toEqual(["event", "secret"]);
    expect(await notesOf(tab)).toEqual([]);
  });
});
