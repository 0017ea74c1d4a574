import { IDBObjectStore } from "fake-indexeddb";
import { afterEach, expect, it, vi } from "vitest";
import type { Uuid } from "#contract/ids.ts";
import { DraftKeeper } from "#sync/drafts/draft-keeper.ts";
import { TextDrafts } from "#sync/drafts/text-drafts.ts";
import { listUnsentContent } from "#sync/drafts/unsent-content.ts";
import { appendRecordingChunk } from "#sync/drafts/voice-drafts.ts";
import { enqueueText } from "#sync/sending/enqueue.ts";
import { enqueueFiles } from "#sync/sending/files/send-files.ts";
import { listOutbox } from "#sync/unsent/messages.ts";
import { eventually } from "#tests/support/model/eventually.ts";
import { getContext, listShown, readCommittedDraft, waitUntilDeviceSynced } from "#tests/support/model/model-checks.ts";
import type { ModelDevice } from "#tests/support/model/model-device.ts";
import { makeDevice, makePair } from "#tests/support/model/model-fixtures.ts";
import { listUnsentBytes, makePicture } from "#tests/support/model/outgoing-files.ts";

afterEach(() => {
  vi.restoreAllMocks();
});

/** Makes reads of the device's database wait, as while another page holds a transaction, until `release` is called. */
const holdReads = (phone: ModelDevice) => {
  let isHeld = true;
  const databases = new WeakSet<object>();
  const open = phone.indexedDB.open.bind(phone.indexedDB);
  phone.indexedDB.open = (...args) => {
    const request = open(...args);
    request.addEventListener("success", () => databases.add(request.result));
    return request;
  };
  for (const method of ["get", "getAll"] as const) {
    const read = IDBObjectStore.prototype[method];
    vi.spyOn(IDBObjectStore.prototype, method).mockImplementation(function (this: IDBObjectStore, ...args: unknown[]) {
      const isWaiting = isHeld && databases.has(this.transaction.db);
      return isWaiting ? (new EventTarget() as ReturnType<typeof read>) : read.apply(this, args as never);
    });
  }
  return {
    release: () => {
      isHeld = false;
    },
    isOnDisk: ({ transaction }: IDBObjectStore) => databases.has(transaction.db),
  };
};

const goOffline = (phone: ModelDevice): void => {
  phone.faults.isOffline = true;
  for (const socket of phone.server.inbox(phone.user).sockets) socket.end(1006);
};

it("a page whose database does not answer starts from the server within seconds, and says so", async () => {
  const { server, amina, benoit, chat } = makePair();
  const phone = makeDevice(server, amina);
  await phone.close(await phone.openTab());
  server.sendTexts(benoit, chat, "hello");
  holdReads(phone);
  const startedAt = phone.now();
  const tab = await phone.openTab();
  expect(phone.now() - startedAt).toBeLessThanOrEqual(5_000);
  expect(tab.storageTrouble.get()).toBe("unreachable");
  expect(phone.notices).toEqual([]);
  await waitUntilDeviceSynced(server, tab, chat);
  await enqueueText(tab, chat, "answer");
  expect(await listShown(tab, chat)).toEqual(["hello", "answer sent"]);
});

it("a database that answers again receives what was written meanwhile, behind what was unsent before", async () => {
  const { server, amina, benoit, chat } = makePair();
  const phone = makeDevice(server, amina);
  const first = await phone.openTab();
  server.sendTexts(benoit, chat, "hello");
  await waitUntilDeviceSynced(server, first, chat);
  goOffline(phone);
  await enqueueFiles(first, [chat], [makePicture(100, "before")]);
  await enqueueText(first, chat, "one");
  await phone.close(first);

  const { release } = holdReads(phone);
  const tab = await phone.openTab();
  expect(tab.storageTrouble.get()).toBe("unreachable");
  await eventually(async () => expect(await listShown(tab, chat)).toEqual(["image sending", "one sending"]));
  const drafts = new TextDrafts(tab);
  await enqueueText(tab, chat, "two");
  await enqueueFiles(tab, [chat], [makePicture(100, "meanwhile")]);
  drafts.save(chat, "half a thought");
  await drafts.flush();
  release();
  await eventually(() => expect(tab.storageTrouble.get()).toBeUndefined());

  const { store } = getContext(tab);
  expect(await store.messages.count()).toBe(1);
  expect(await readCommittedDraft(tab, chat)).toBe("half a thought");
  const rows = listOutbox(tab.unsent);
  expect(rows.map(({ body }) => "text" in body && body.text)).toEqual(["before", "one", "two", "meanwhile"]);
  await eventually(async () => expect(await listUnsentBytes(tab)).toHaveLength(2));
  phone.faults.isOffline = false;
  phone.wake();
  await waitUntilDeviceSynced(server, tab, chat);
  await eventually(async () => expect(listOutbox(tab.unsent).length).toBe(0));
  expect(server.log(chat).messages).toHaveLength(5);
});

it("drafts of a page without its database replace none that are stored there", async () => {
  const { server, amina, chat } = makePair();
  const phone = makeDevice(server, amina);
  const first = await phone.openTab();
  const choose = async (page: typeof first, name: string) => {
    const keeper = await DraftKeeper.open(page, chat);
    keeper?.save({ files: [new File([name], name)], captions: new Map(), isOriginal: false, text: "", to: [] });
    await keeper?.close();
    const recording = { conversation: chat, startedAt: phone.now(), mime: "audio/webm", ms: 900, levels: [1] };
    await appendRecordingChunk(page, recording, new Blob([name]));
  };
  await choose(first, "before");
  await phone.close(first);
  const { release } = holdReads(phone);
  const tab = await phone.openTab();
  await phone.pass(10);
  await choose(tab, "meanwhile");
  release();
  await eventually(() => expect(tab.storageTrouble.get()).toBeUndefined());

  const list = () => listUnsentContent(tab.unsent.list(), chat);
  await eventually(() => expect(list().files.map(({ name }) => name)).toEqual(["before", "meanwhile"]));
  const read = async (id: Uuid) => (await tab.unsent.bytes.get(id))?.text();
  const recordings = [...tab.unsent.list().recordings.values()];
  const texts = await Promise.all(recordings.flatMap(({ chunks }) => chunks.map(read)));
  expect(texts.sort()).toEqual(["before", "meanwhile"]);
  await eventually(async () => expect(await listUnsentBytes(tab)).toHaveLength(4));
});

it("a file that does not fit into the database that answers again is sent from its page", async () => {
  const { server, amina, chat } = makePair();
  const phone = makeDevice(server, amina);
  await phone.close(await phone.openTab());
  const { release, isOnDisk } = holdReads(phone);
  const tab = await phone.openTab();
  goOffline(phone);
  const { put } = IDBObjectStore.prototype;
  let refusals = 0;
  vi.spyOn(IDBObjectStore.prototype, "put").mockImplementation(function (this: IDBObjectStore, ...args) {
    if (this.name === "bytes" && isOnDisk(this) && ++refusals) throw new DOMException("full", "QuotaExceededError");
    return put.apply(this, args);
  });
  await enqueueFiles(tab, [chat], [makePicture(100)]);
  release();
  await eventually(() => expect(tab.storageTrouble.get()).toBeUndefined());
  await eventually(() => expect(refusals).toBeGreaterThan(0));
  expect(await listUnsentBytes(tab)).toEqual([]);
  phone.faults.isOffline = false;
  phone.wake();
  await waitUntilDeviceSynced(server, tab, chat);
  expect(server.log(chat).messages).toHaveLength(1);
});

it("a page that is closed before its database answers leaves its texts and drafts to the next page", async () => {
  const { server, amina, chat } = makePair();
  const phone = makeDevice(server, amina);
  await phone.close(await phone.openTab());
  const { release } = holdReads(phone);
  const tab = await phone.openTab();
  goOffline(phone);
  const drafts = new TextDrafts(tab);
  const sending = enqueueText(tab, chat, "unsent");
  await eventually(async () => expect(await listShown(tab, chat)).toEqual(["unsent sending"]));
  drafts.save(chat, "half a thought");
  await drafts.flush();
  await phone.kill(tab);
  release();
  const next = await phone.openTab();
  expect(next.storageTrouble.get()).toBeUndefined();
  await eventually(async () => expect(await listShown(next, chat)).toEqual(["unsent sending"]));
  expect(await new TextDrafts(next).read(chat)).toBe("half a thought");
  await sending;
});
