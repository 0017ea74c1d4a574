import { IDBObjectStore } from "fake-indexeddb";
import { afterEach, expect, it, vi } from "vitest";
import { readConversation } from "#sync/queries/conversation.ts";
import { readSyncCursor, writeSyncCursor } from "#sync/store/sync-cursor.ts";
import { eventually } from "#tests/support/model/eventually.ts";
import { getContext, waitUntilDeviceSynced } from "#tests/support/model/model-checks.ts";
import { makeDevice, makePair } from "#tests/support/model/model-fixtures.ts";

afterEach(() => {
  vi.restoreAllMocks();
});

it("a phone that is full from the start says so while it can store nothing, and continues by itself once it has room", async () => {
  const { server, amina, chat } = makePair();
  const phone = makeDevice(server, amina);
  for (const method of ["put", "add"] as const)
    vi.spyOn(IDBObjectStore.prototype, method).mockImplementation(() => {
      throw new DOMException("the phone is full", "QuotaExceededError");
    });
  const tab = await phone.openTab();
  await eventually(() => expect(tab.storageTrouble.get()).toBe("full"));
  const read = async () => readConversation(getContext(tab).store, amina, chat);
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
      throw new DOMException("the phone is full", "QuotaExceededError");
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
