import { IDBObjectStore } from "fake-indexeddb";
import { afterEach, describe, expect, it, vi } from "vitest";
import { deleteRecordingDraft } from "#sync/drafts/delete-drafts.ts";
import { acquireRecordingLock, appendRecordingChunk, findRecordingDraft } from "#sync/drafts/voice-drafts.ts";
import type { SyncClient } from "#sync/engine/sync-client.ts";
import { toStoreName } from "#sync/store/database.ts";
import { deleteAllButUnsent } from "#sync/store/open-database.ts";
import { listRecordings } from "#sync/unsent/recordings.ts";
import { eventually } from "#tests/support/model/eventually.ts";
import type { ModelDevice } from "#tests/support/model/model-device.ts";
import { makeDevice, makePair } from "#tests/support/model/model-fixtures.ts";
import { listUnsentBytes } from "#tests/support/model/outgoing-files.ts";

afterEach(() => {
  vi.restoreAllMocks();
});

const openPhone = async () => {
  const { server, amina, chat } = makePair();
  const phone = makeDevice(server, amina);
  return { amina, chat, phone, tab: await phone.openTab() };
};

const speak = async (tab: SyncClient, conversation: string, startedAt: number, ...pieces: string[]) => {
  const recording = { conversation, startedAt, mime: "audio/webm", levels: [1] };
  for (const [index, piece] of pieces.entries())
    await appendRecordingChunk(tab, { ...recording, ms: index + 1 }, new Blob([piece]));
};

const hear = async (tab: SyncClient, conversation: string, startedAt?: number) => {
  const found = await findRecordingDraft(tab, conversation, startedAt);
  return found && (await new Blob(found.chunks).text());
};

const deleteCache = (phone: ModelDevice) =>
  new Promise((resolve) => {
    phone.indexedDB.deleteDatabase(toStoreName(phone.user)).onsuccess = resolve;
  });

describe("a recording", () => {
  it("outlives its page and the loss of the cache, with its pieces in order", async () => {
    const { chat, phone, tab } = await openPhone();
    const pieces = Array.from({ length: 12 }, (_, n) => `${n},`);
    await speak(tab, chat, 5, ...pieces);
    await phone.kill(tab);
    await deleteCache(phone);
    const next = await phone.openTab();
    expect(await findRecordingDraft(next, chat)).toMatchObject({ startedAt: 5, mime: "audio/webm", ms: 12 });
    expect(await hear(next, chat)).toBe(pieces.join(""));
  });

  it("stays after its person ended the session from elsewhere", async () => {
    const { amina, chat, phone, tab } = await openPhone();
    await speak(tab, chat, 5, "still ", "here");
    await phone.close(tab);
    await deleteAllButUnsent(phone.platform(), amina);
    expect(await hear(await phone.openTab(), chat)).toBe("still here");
  });

  it("is kept apart from those that other pages begin at the same moment", async () => {
    const { chat, phone, tab } = await openPhone();
    const others = [await phone.openTab(), await phone.openTab()];
    await Promise.all([tab, ...others].map((page, index) => speak(page, chat, index + 1, `${index}a`, `${index}b`)));
    await eventually(() => expect(listRecordings(tab.unsent.list(), chat)).toHaveLength(3));
    for (const index of [0, 1, 2]) expect(await hear(tab, chat, index + 1)).toBe(`${index}a${index}b`);
  });

  it("is deleted with its bytes, and without those of another page", async () => {
    const { chat, phone, tab } = await openPhone();
    const other = await phone.openTab();
    await speak(tab, chat, 1, "a", "b");
    await acquireRecordingLock(other, chat, 2);
    await eventually(() => expect(listRecordings(other.unsent.list(), chat)).toHaveLength(1));
    await speak(other, chat, 2, "c");
    await deleteRecordingDraft(tab, chat, 1);
    await eventually(async () => expect(await listUnsentBytes(tab)).toHaveLength(1));
    await eventually(() => expect(listRecordings(tab.unsent.list(), chat)).toMatchObject([{ startedAt: 2 }]));
    await eventually(() => expect(listRecordings(other.unsent.list(), chat)).toMatchObject([{ startedAt: 2 }]));
  });

  it("without its first piece is deleted instead of being listed for ever", async () => {
    const { chat, tab } = await openPhone();
    await speak(tab, chat, 1, "header", "sound");
    const [first] = listRecordings(tab.unsent.list(), chat)[0]?.chunks ?? [];
    await tab.unsent.bytes.delete(first === undefined ? [] : [first]);
    expect(await findRecordingDraft(tab, chat)).toBeUndefined();
    expect(listRecordings(tab.unsent.list(), chat)).toEqual([]);
    await eventually(async () => expect(await listUnsentBytes(tab)).toEqual([]));
  });
});

it("a chunk without room on the device is reported", async () => {
  const { chat, tab } = await openPhone();
  const { put } = IDBObjectStore.prototype;
  vi.spyOn(IDBObjectStore.prototype, "put").mockImplementation(function (this: IDBObjectStore, ...args) {
    if (this.name === "bytes") throw new DOMException("refused", "QuotaExceededError");
    return put.apply(this, args);
  });
  await expect(speak(tab, chat, 1, "sound")).rejects.toMatchObject({ code: "no_room" });
});
