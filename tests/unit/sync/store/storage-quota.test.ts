import { IDBObjectStore } from "fake-indexeddb";
import { afterEach, describe, expect, it, vi } from "vitest";
import { readConversation } from "#sync/queries/conversation.ts";
import { fetchOlderMessages } from "#sync/queries/message-window.ts";
import { enqueueText } from "#sync/sending/enqueue.ts";
import { readSyncCursor, writeSyncCursor } from "#sync/store/sync-cursor.ts";
import { eventually } from "#tests/support/model/eventually.ts";
import { getContext, listTexts, waitUntilDeviceSynced } from "#tests/support/model/model-checks.ts";
import { makeDevice, makePair } from "#tests/support/model/model-fixtures.ts";

afterEach(() => {
  vi.restoreAllMocks();
});

const quotaError = () => new DOMException("the phone is full", "QuotaExceededError");

it("a phone that is full from the start says so while it can store nothing, and continues by itself once it has room", async () => {
  const { server, amina, chat } = makePair();
  const phone = makeDevice(server, amina);
  for (const method of ["put", "add"] as const)
    vi.spyOn(IDBObjectStore.prototype, method).mockImplementation(() => {
      throw quotaError();
    });
  const tab = await phone.openTab();
  await eventually(() => expect(tab.storageTrouble.get()).toBe("full"));
  const read = async () => readConversation(getContext(tab), chat);
  expect(await read()).toMatchObject({ isConfirmed: false });
  await phone.pass(60_000);
  expect(tab.storageTrouble.get()).toBe("full");
  vi.restoreAllMocks();
  await phone.pass(60_000);
  await eventually(async () => expect(await read()).toMatchObject({ isConfirmed: true, open: true }));
  expect(tab.storageTrouble.get()).toBeUndefined();
});

it("changes that a full phone cannot store are requested with pauses", async () => {
  const { server, amina, benoit, chat } = makePair();
  const phone = makeDevice(server, amina);
  const tab = await phone.openTab();
  server.sendTexts(benoit, chat, "a");
  await waitUntilDeviceSynced(server, tab, chat);
  // A part of the changes is missing here, and there is no room for it.
  const { store } = getContext(tab);
  await writeSyncCursor(store, { ...(await readSyncCursor(store)), gaps: [{ since: 0, before: null }] });
  for (const method of ["put", "add"] as const)
    vi.spyOn(IDBObjectStore.prototype, method).mockImplementation(() => {
      throw quotaError();
    });
  const asked = () =>
    server.executedCommands.filter(({ user, command }) => user === amina && command.type === "changes").length;
  const before = asked();
  phone.sockets.at(-1)?.end(1006);
  await phone.pass(60_000);
  expect(asked() - before).toBeGreaterThan(0);
  expect(asked() - before).toBeLessThan(30);
  vi.restoreAllMocks();
  await waitUntilDeviceSynced(server, tab, chat);
  await eventually(async () => {
    expect(await readSyncCursor(store)).toMatchObject({ gaps: [] });
  });
});

describe("a full phone", () => {
  it("old messages are evicted for new ones", async () => {
    const { server, amina, benoit, chat } = makePair();
    const phone = makeDevice(server, amina);
    const tab = await phone.openTab();
    await eventually(() => expect(tab.link.get()).toBe("online"));
    server.sendTexts(benoit, chat, ...Array.from({ length: 150 }, (_, i) => `m${i + 1}`));
    await waitUntilDeviceSynced(server, tab, chat);
    const put = IDBObjectStore.prototype.put;
    let isFull = true;
    vi.spyOn(IDBObjectStore.prototype, "put").mockImplementation(function (this: IDBObjectStore, ...args) {
      if (this.name === "messages" && isFull) throw quotaError();
      return put.apply(this, args);
    });
    const remove = IDBObjectStore.prototype.delete;
    vi.spyOn(IDBObjectStore.prototype, "delete").mockImplementation(function (this: IDBObjectStore, ...args) {
      isFull = false;
      return remove.apply(this, args);
    });
    server.sendTexts(benoit, chat, "new");
    await waitUntilDeviceSynced(server, tab, chat);
    expect((await listTexts(tab, chat)).at(-1)).toBe("new");
    expect(tab.storageTrouble.get()).toBeUndefined();
    vi.restoreAllMocks();
    await fetchOlderMessages(tab, chat);
    expect((await listTexts(tab, chat)).length).toBe(81);
  });

  it("without any room a message is still sent, a warning is shown, and changes are applied once there is room", async () => {
    const { server, amina, benoit, chat } = makePair();
    const phone = makeDevice(server, amina);
    const tab = await phone.openTab();
    server.sendTexts(benoit, chat, "a");
    await waitUntilDeviceSynced(server, tab, chat);
    for (const method of ["put", "add"] as const)
      vi.spyOn(IDBObjectStore.prototype, method).mockImplementation(() => {
        throw quotaError();
      });
    await enqueueText(tab, chat, "not kept");
    await eventually(() => expect(server.log(chat).messages).toHaveLength(2));
    expect(tab.storageTrouble.get()).toBe("full");
    server.sendTexts(benoit, chat, "b");
    await phone.pass(10_000);
    expect(await listTexts(tab, chat)).toEqual(["a", "not kept"]);
    phone.faults.isOffline = true;
    await enqueueText(tab, chat, "neither");
    phone.faults.isOffline = false;
    vi.restoreAllMocks();
    await waitUntilDeviceSynced(server, tab, chat);
    expect(await listTexts(tab, chat)).toEqual(["a", "not kept", "b", "neither"]);
    expect(tab.storageTrouble.get()).toBeUndefined();
  });
});
