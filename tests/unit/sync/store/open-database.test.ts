import { IDBFactory, IDBObjectStore } from "fake-indexeddb";
import { afterEach, describe, expect, it, vi } from "vitest";
import { getConversationName } from "#components/messages/conversation-name.ts";
import { createUuid } from "#contract/ids.ts";
import { searchTextOfBody } from "#contract/messages/body.ts";
import fr from "#i18n/fr.json";
import { createTranslate } from "#i18n/setup.ts";
import { toUnsentName } from "#lib/unsent/unsent-database.ts";
import { TextDrafts } from "#sync/drafts/text-drafts.ts";
import { appendRecordingChunk, findRecordingDraft } from "#sync/drafts/voice-drafts.ts";
import type { SyncClient } from "#sync/engine/sync-client.ts";
import { discardUnsentMessage } from "#sync/sending/discard-message.ts";
import { enqueueText } from "#sync/sending/enqueue.ts";
import { toStoreName } from "#sync/store/database.ts";
import { putAttachmentDraft } from "#sync/unsent/attachment-drafts.ts";
import { listOutbox } from "#sync/unsent/messages.ts";
import { toDeletion } from "#sync/unsent/operations.ts";
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
import { makePicture, sendFiles } from "#tests/support/model/outgoing-files.ts";

afterEach(() => {
  vi.restoreAllMocks();
});

/** A factory whose next opens fail like those of a broken profile. */
const breakOpens = (factory: IDBFactory, times: number): void => {
  const open = factory.open.bind(factory);
  let left = times;
  factory.open = (name: string, version?: number) => {
    if (left-- > 0) throw new DOMException("Internal error opening backing store for indexedDB.open.", "UnknownError");
    return open(name, version);
  };
};

describe("a local store that breaks", () => {
  it("a store that does not open is replaced; unsent messages are kept and sent", async () => {
    const { server, amina, benoit, chat } = makePair();
    const phone = makeDevice(server, amina);
    const first = await phone.openTab();
    server.sendTexts(benoit, chat, "before");
    await waitUntilDeviceSynced(server, first, chat);
    phone.faults.isOffline = true;
    await enqueueText(first, chat, "unsent");
    await phone.close(first);
    phone.faults.isOffline = false;
    // Both connections of one attempt fail, with the retries of Dexie itself.
    breakOpens(phone.indexedDB, 8);
    const second = await phone.openTab();
    expect(second.storageTrouble.get()).toBeUndefined();
    await waitUntilDeviceSynced(server, second, chat);
    expect(await listShown(second, chat)).toEqual(["before", "unsent sent"]);
  });

  it("a person has two databases", async () => {
    const { server, amina } = makePair();
    const phone = makeDevice(server, amina);
    const open = vi.spyOn(phone.indexedDB, "open");
    await phone.openTab();
    expect(new Set(open.mock.calls.map(([name]) => name))).toEqual(new Set([toStoreName(amina), toUnsentName(amina)]));
  });

  it("unsent content outlives a replaced store: attachments and a voice message", async () => {
    const { server, amina, chat } = makePair();
    const phone = makeDevice(server, amina);
    const first = await phone.openTab();
    const id = createUuid();
    await first.unsent.bytes.put(id, new Blob(["a picture"]));
    const files = [{ id, name: "a.png", type: "image/png", modified: 1, caption: "here" }];
    const draft = { files, isOriginal: false, text: "", to: [] };
    await first.unsent.changeAll([putAttachmentDraft({ key: chat }, draft, phone.now())]);
    const recording = { conversation: chat, startedAt: 5, mime: "audio/webm", ms: 900, levels: [1, 2] };
    await appendRecordingChunk(first, recording, new Blob(["sound"]));
    await phone.close(first);
    breakOpens(phone.indexedDB, 8);
    const second = await phone.openTab();
    expect(second.storageTrouble.get()).toBeUndefined();
    await eventually(() => expect(second.unsent.find("attachments", chat)).toMatchObject({ files }));
    expect(await (await second.unsent.bytes.get(id))?.text()).toBe("a picture");
    const found = await findRecordingDraft(second, chat);
    expect(found).toMatchObject({ startedAt: 5, ms: 900, levels: [1, 2] });
    expect(await found?.chunks[0]?.text()).toBe("sound");
  });

  it("unsent messages survive a page that dies between the old store and the new one", async () => {
    const { server, amina, benoit, chat } = makePair();
    const phone = makeDevice(server, amina);
    const first = await phone.openTab();
    server.sendTexts(benoit, chat, "before");
    await waitUntilDeviceSynced(server, first, chat);
    phone.faults.isOffline = true;
    await enqueueText(first, chat, "unsent");
    await phone.close(first);
    // The new store cannot be created any more: the old one is gone, the page works from memory and is closed.
    breakOpens(phone.indexedDB, 8);
    const remove = phone.indexedDB.deleteDatabase.bind(phone.indexedDB);
    const { open } = phone.indexedDB;
    phone.indexedDB.deleteDatabase = (name) => {
      if (name === toStoreName(amina)) breakOpens(phone.indexedDB, Number.POSITIVE_INFINITY);
      return remove(name);
    };
    const dying = await phone.openTab();
    expect(dying.storageTrouble.get()).toBe("memory");
    await phone.close(dying);
    Object.assign(phone.indexedDB, { deleteDatabase: remove, open });
    phone.faults.isOffline = false;
    const second = await phone.openTab();
    await waitUntilDeviceSynced(server, second, chat);
    expect(await listShown(second, chat)).toEqual(["before", "unsent sent"]);
  });

  it("a store that does not answer is kept, with its unsent messages", async () => {
    const { server, amina, chat } = makePair();
    const phone = makeDevice(server, amina);
    const first = await phone.openTab();
    phone.faults.isOffline = true;
    await enqueueText(first, chat, "unsent");
    await phone.close(first);
    const { open } = phone.indexedDB;
    phone.indexedDB.open = () => new EventTarget() as IDBOpenDBRequest;
    phone.storeTimeoutMs = 200;
    const stuck = await phone.openTab();
    expect(stuck.storageTrouble.get()).toBe("unreachable");
    await phone.close(stuck);
    Object.assign(phone, { storeTimeoutMs: 5_000 }).indexedDB.open = open;
    phone.faults.isOffline = false;
    const second = await phone.openTab();
    await waitUntilDeviceSynced(server, second, chat);
    expect(await listShown(second, chat)).toEqual(["unsent sent"]);
  });

  it("without any storage the app works from memory and says so", async () => {
    const { server, amina, benoit, chat } = makePair();
    const phone = makeDevice(server, amina);
    breakOpens(phone.indexedDB, Number.POSITIVE_INFINITY);
    const tab = await phone.openTab();
    expect(tab.storageTrouble.get()).toBe("memory");
    await enqueueText(tab, chat, "from memory");
    await eventually(() => expect(server.log(chat).messages).toHaveLength(1));
    server.sendTexts(benoit, chat, "answer");
    await waitUntilDeviceSynced(server, tab, chat);

    // A message that its author deleted before it was sent is not sent by the next page.
    phone.faults.isOffline = true;
    server.inbox(amina).sockets.forEach((socket) => {
      socket.end(1006);
    });
    await enqueueText(tab, chat, "regretted");
    const [unsent] = listOutbox(tab.unsent);
    expect(await discardUnsentMessage(tab, unsent?.cid ?? "")).toBe(true);
    await phone.close(tab);
    phone.faults.isOffline = false;
    const next = await phone.openTab();
    await waitUntilDeviceSynced(server, next, chat);
    await enqueueText(next, chat, "later");
    const texts = () => server.log(chat).messages.map(({ body }) => searchTextOfBody(body));
    await eventually(() => expect(texts()).toEqual(["from memory", "answer", "later"]));
  });

  it("data cleared under a running tab is loaded again from the server", async () => {
    const { server, amina, benoit, chat } = makePair();
    const phone = makeDevice(server, amina);
    const tab = await phone.openTab();
    server.sendTexts(benoit, chat, "a", "b");
    await waitUntilDeviceSynced(server, tab, chat);
    await new Promise<void>((resolve, reject) => {
      const request = phone.indexedDB.deleteDatabase(toStoreName(amina));
      request.onsuccess = () => resolve();
      request.onerror = () => reject(request.error);
    });
    await eventually(async () => expect(await getContext(tab).store.conversations.count()).toBe(1));
    await waitUntilDeviceSynced(server, tab, chat);
    expect(await listTexts(tab, chat)).toEqual(["a", "b"]);
  });

  it("a store that fails repeatedly in use is replaced, with its unsent messages", async () => {
    const { server, amina, benoit, chat } = makePair();
    const phone = makeDevice(server, amina);
    const tab = await phone.openTab();
    server.sendTexts(benoit, chat, "a");
    await waitUntilDeviceSynced(server, tab, chat);
    phone.faults.isOffline = true;
    server.inbox(amina).sockets.forEach((socket) => {
      socket.end(1006);
    });
    await enqueueText(tab, chat, "unsent");
    const deleted = { cid: createUuid(), conversation: chat };
    await tab.unsent.changeAll(toDeletion(deleted, Date.now()));
    let isDamaged = true;
    const remove = phone.indexedDB.deleteDatabase.bind(phone.indexedDB);
    phone.indexedDB.deleteDatabase = (name) => {
      isDamaged = false;
      return remove(name);
    };
    const put = IDBObjectStore.prototype.put;
    vi.spyOn(IDBObjectStore.prototype, "put").mockImplementation(function (this: IDBObjectStore, ...args) {
      if (this.name === "messages" && isDamaged) throw new DOMException("damaged", "DataError");
      return put.apply(this, args);
    });
    phone.faults.isOffline = false;
    phone.wake();
    server.sendTexts(benoit, chat, "b");
    await eventually(() => expect(phone.notices).toContain("store-reset"));
    await waitUntilDeviceSynced(server, tab, chat);
    expect(await listTexts(tab, chat)).toEqual(["a", "b", "unsent"]);
    // The new store reports the message that was deleted while being sent.
    await eventually(() => expect([...server.log(chat).deletedPending]).toEqual([`${amina} ${deleted.cid}`]));
  });
});

describe("a store that is deleted", () => {
  /** Amina offline, with three unsent messages and a draft. */
  const makeUnsent = async () => {
    const world = makePair();
    const { server, amina, benoit, chat } = world;
    const phone = makeDevice(server, amina);
    const tab = await phone.openTab();
    server.sendTexts(benoit, chat, "a");
    await waitUntilDeviceSynced(server, tab, chat);
    phone.faults.isOffline = true;
    server.inbox(amina).sockets.forEach((socket) => {
      socket.end(1006);
    });
    const drafts = new TextDrafts(tab);
    for (const text of ["one", "two", "three"]) await enqueueText(tab, chat, text);
    drafts.save(chat, "half a thought");
    await drafts.flush();
    return { ...world, phone, tab, drafts };
  };
  const unsent = ["one sending", "two sending", "three sending"];
  const deleteDatabase = (phone: ModelDevice): Promise<void> =>
    new Promise((resolve, reject) => {
      const request = phone.indexedDB.deleteDatabase(toStoreName(phone.user));
      request.onsuccess = () => resolve();
      request.onerror = () => reject(request.error);
    });

  it("by another tab keeps unsent messages and the draft, and reports its replacement", async () => {
    const { server, chat, phone, tab, drafts } = await makeUnsent();
    await deleteDatabase(phone);
    await eventually(async () => expect(await listShown(tab, chat)).toEqual(unsent));
    await eventually(async () => expect(await drafts.read(chat)).toBe("half a thought"));
    expect(phone.notices).toEqual(["store-reset"]);
    phone.faults.isOffline = false;
    phone.wake();
    await waitUntilDeviceSynced(server, tab, chat);
    expect(await listShown(tab, chat)).toEqual(["a", "one sent", "two sent", "three sent"]);
  });

  it("loses no text that is sent before the next one is open", async () => {
    const { server, chat, phone, tab } = await makeUnsent();
    const sending: Promise<void>[] = [];
    const unsubscribe = tab.context.subscribe(() => {
      if (!tab.context.get()) sending.push(enqueueText(tab, chat, "meanwhile"));
    });
    await deleteDatabase(phone);
    unsubscribe();
    expect(sending).toHaveLength(1);
    await Promise.all(sending);
    await eventually(async () => expect(await listShown(tab, chat)).toEqual([...unsent, "meanwhile sending"]));
    phone.faults.isOffline = false;
    phone.wake();
    await waitUntilDeviceSynced(server, tab, chat);
    expect((await listShown(tab, chat)).at(-1)).toBe("meanwhile sent");
  });

  it("by a browser that finds its files unreadable restores texts from the journal", async () => {
    const { server, chat, phone, tab } = await makeUnsent();
    await phone.kill(tab);
    phone.indexedDB = new IDBFactory();
    const next = await phone.openTab();
    await eventually(async () => expect(await listShown(next, chat)).toEqual(unsent));
    expect(phone.notices).toEqual([]);
    phone.faults.isOffline = false;
    phone.wake();
    await waitUntilDeviceSynced(server, next, chat);
    expect(await listShown(next, chat)).toEqual(["a", "one sent", "two sent", "three sent"]);
    await phone.close(next);
    // The journal does not contain what the server has.
    phone.indexedDB = new IDBFactory();
    phone.faults.isOffline = true;
    const last = await phone.openTab();
    await phone.pass(1_000);
    expect(await listShown(last, chat)).toEqual([]);
  });

  const losses = [
    {
      name: "is deleted by another tab",
      lose: async (phone: ModelDevice, tab: SyncClient) => {
        await deleteDatabase(phone);
        return tab;
      },
    },
    {
      name: "does not open any more",
      lose: async (phone: ModelDevice, tab: SyncClient) => {
        await phone.close(tab);
        breakOpens(phone.indexedDB, 8);
        return phone.openTab();
      },
    },
  ];

  it.each(losses)("that $name lists what is unsent, and names once the server has told them", async ({ lose }) => {
    const { server, amina, benoit, withBenoit, group } = makeGroup();
    const phone = makeDevice(server, amina);
    const first = await phone.openTab();
    server.sendTexts(benoit, withBenoit, "a");
    server.sendTexts(benoit, group, "b");
    await waitUntilDeviceSynced(server, first, withBenoit);
    await waitUntilDeviceSynced(server, first, group);
    phone.faults.isOffline = true;
    server.inbox(amina).sockets.forEach((socket) => {
      socket.end(1006);
    });
    await enqueueText(first, withBenoit, "to one");
    await enqueueText(first, group, "to all");
    const tab = await lose(phone, first);
    await phone.pass(10_000);
    const listLast = async () =>
      Object.fromEntries((await listConversations(tab)).map(({ id, last: { body } }) => [id, body]));
    const unsent = { [withBenoit]: { text: "to one" }, [group]: { text: "to all" } };
    await eventually(async () => expect(await listLast()).toMatchObject(unsent));
    expect(await getContext(tab).store.messages.count()).toBe(0);

    phone.faults.isOffline = false;
    phone.wake();
    await waitUntilDeviceSynced(server, tab, withBenoit);
    await waitUntilDeviceSynced(server, tab, group);
    const t = createTranslate("fr", fr);
    const listNames = async () => (await listConversations(tab)).map((row) => getConversationName(row, t)).sort();
    await eventually(async () => expect(await listNames()).toEqual(["Benoît", "Famille"]));
    expect(await listShown(tab, withBenoit)).toEqual(["a", "to one sent"]);
    expect(await listShown(tab, group)).toContain("to all sent");
  });

  it("with the file of a message shows it as failed", async () => {
    const { chat, phone, tab } = await makeUnsent();
    await sendFiles(tab, chat, makePicture(500));
    await phone.kill(tab);
    phone.indexedDB = new IDBFactory();
    const next = await phone.openTab();
    await eventually(async () => expect(await listShown(next, chat)).toContain("image failed"));
  });
});
