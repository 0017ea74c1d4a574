import { IDBObjectStore } from "fake-indexeddb";
import { afterEach, describe, expect, it, vi } from "vitest";
import { fileMaxBytes } from "#contract/limits/files.ts";
import { enqueueText } from "#sync/sending/enqueue.ts";
import { deleteAllButUnsent } from "#sync/store/open-database.ts";
import { eventually } from "#tests/support/model/eventually.ts";
import { getContext, listTexts, waitUntilDeviceSynced } from "#tests/support/model/model-checks.ts";
import { makeDevice, makePair } from "#tests/support/model/model-fixtures.ts";
import {
  countUnsent,
  fourPartSize,
  getOnlyFile,
  makeBytes,
  makePicture,
  sendFiles,
} from "#tests/support/model/outgoing-files.ts";

afterEach(() => {
  vi.restoreAllMocks();
});

describe("files and storage quota", () => {
  it("a file that is too big or empty is refused before anything is stored", async () => {
    const { server, amina, chat } = makePair();
    const tab = await makeDevice(server, amina).openTab();
    const big = { ...makePicture(1), blob: { size: fileMaxBytes + 1 } as Blob };
    await expect(sendFiles(tab, chat, big)).rejects.toMatchObject({ code: "file_too_large" });
    await expect(sendFiles(tab, chat, makePicture(0))).rejects.toMatchObject({ code: "file_incomplete" });
    expect(await countUnsent(tab)).toEqual({ outbox: 0, uploads: 0, files: 0 });
  });

  it("a file without room is refused completely, and texts are still sent", async () => {
    const { server, amina, chat } = makePair();
    const tab = await makeDevice(server, amina).openTab();
    const put = IDBObjectStore.prototype.put;
    let kept = 0;
    vi.spyOn(IDBObjectStore.prototype, "put").mockImplementation(function (this: IDBObjectStore, ...args) {
      if (this.name === "bytes" && kept++ > 0) throw new DOMException("the phone is full", "QuotaExceededError");
      return put.apply(this, args);
    });
    await expect(sendFiles(tab, chat, makePicture(500), makePicture(500))).rejects.toMatchObject({ code: "no_room" });
    expect(await countUnsent(tab)).toEqual({ outbox: 0, uploads: 0, files: 0 });
    expect(tab.storageTrouble.get()).toBeUndefined();
    await enqueueText(tab, chat, "all the same");
    await waitUntilDeviceSynced(server, tab, chat);
    expect(await listTexts(tab, chat)).toEqual(["all the same"]);
  });

  it("cached files are evicted for it first, and old messages stay", async () => {
    const { server, amina, benoit, chat } = makePair();
    const tab = await makeDevice(server, amina).openTab();
    server.sendTexts(benoit, chat, ...Array.from({ length: 60 }, (_, i) => `m${i}`));
    await sendFiles(tab, chat, makePicture(500));
    await eventually(() => expect(server.log(chat).messages).toHaveLength(61));
    await waitUntilDeviceSynced(server, tab, chat);
    const before = (await listTexts(tab, chat)).length;
    const [put, remove] = [IDBObjectStore.prototype.put, IDBObjectStore.prototype.delete];
    let isFull = true;
    vi.spyOn(IDBObjectStore.prototype, "put").mockImplementation(function (this: IDBObjectStore, ...args) {
      if (this.name === "bytes" && isFull) throw new DOMException("the phone is full", "QuotaExceededError");
      return put.apply(this, args);
    });
    vi.spyOn(IDBObjectStore.prototype, "delete").mockImplementation(function (this: IDBObjectStore, ...args) {
      if (this.name === "blobs") isFull = false;
      return remove.apply(this, args);
    });
    await sendFiles(tab, chat, makePicture(500));
    await eventually(() => expect(server.log(chat).messages).toHaveLength(62));
    await waitUntilDeviceSynced(server, tab, chat);
    expect(await listTexts(tab, chat)).toHaveLength(before + 1);
    expect(await getContext(tab).store.files.count()).toBe(1);
  });

  it("an upload survives the replacement of the database", async () => {
    const { server, amina, chat } = makePair();
    const phone = makeDevice(server, amina);
    const first = await phone.openTab();
    phone.faults.isOffline = true;
    await sendFiles(first, chat, makePicture(fourPartSize, "kept"));
    await phone.close(first);
    const open = phone.indexedDB.open.bind(phone.indexedDB);
    let left = 8; // Both connections of one attempt fail, with the retries of Dexie itself.
    phone.indexedDB.open = (name: string, version?: number) => {
      if (left-- > 0)
        throw new DOMException("Internal error opening backing store for indexedDB.open.", "UnknownError");
      return open(name, version);
    };
    phone.faults.isOffline = false;
    const second = await phone.openTab();
    expect(left).toBeLessThanOrEqual(0);
    await phone.pass(10_000); // the database of unsent data is opened again
    await eventually(() => expect(server.log(chat).messages).toHaveLength(1));
    await waitUntilDeviceSynced(server, second, chat);
    expect(server.files.bytes(getOnlyFile(server).id)).toEqual(makeBytes(fourPartSize));
  });

  it("an unsent file waits for its author when a session is ended elsewhere, and cached files do not", async () => {
    const { server, amina, benoit, chat } = makePair();
    const phone = makeDevice(server, amina);
    const tab = await phone.openTab();
    await sendFiles(tab, chat, makePicture(500));
    server.sendTexts(benoit, chat, "private");
    await eventually(() => expect(server.log(chat).messages).toHaveLength(2));
    await waitUntilDeviceSynced(server, tab, chat);
    phone.faults.isOffline = true;
    server.inbox(amina).sockets.forEach((socket) => {
      socket.end(1006);
    });
    await sendFiles(tab, chat, makePicture(fourPartSize));
    await phone.close(tab);
    await deleteAllButUnsent(phone.platform(), amina);
    const next = await phone.openTab();
    expect(await countUnsent(next)).toEqual({ outbox: 1, uploads: 1, files: 1 });
    expect(await getContext(next).store.files.count()).toBe(0);
    phone.faults.isOffline = false;
    phone.wake();
    await eventually(() => expect(server.log(chat).messages).toHaveLength(3));
    await waitUntilDeviceSynced(server, next, chat);
  });
});
