import { IDBObjectStore } from "fake-indexeddb";
import { afterEach, describe, expect, it, vi } from "vitest";
import type { ConversationId } from "#contract/ids.ts";
import { findAttachment } from "#contract/messages/body.ts";
import { discardDrafts } from "#sync/drafts/delete-drafts.ts";
import { DraftKeeper } from "#sync/drafts/draft-keeper.ts";
import { listUnsentContent } from "#sync/drafts/unsent-content.ts";
import type { SyncClient } from "#sync/engine/sync-client.ts";
import { enqueueFiles } from "#sync/sending/files/send-files.ts";
import type { Draft, OutgoingFile } from "#sync/store/view-models.ts";
import { eventually } from "#tests/support/model/eventually.ts";
import { waitUntilDeviceSynced } from "#tests/support/model/model-checks.ts";
import { makeDevice, makePair } from "#tests/support/model/model-fixtures.ts";
import type { ModelServer } from "#tests/support/model/model-server.ts";
import { countUnsent, getOnlyFile, listUnsentBytes, makeBytes } from "#tests/support/model/outgoing-files.ts";

const size = 5_000;

const letter = new File([makeBytes(size)], "lettre.pdf", { type: "application/pdf" });
const photo = new File(["a large photo"], "fête.jpg", { type: "image/jpeg" });
const asChosen: OutgoingFile = {
  blob: letter,
  body: { type: "file", name: "lettre.pdf", mime: "application/pdf", size },
};
const compressed: OutgoingFile = {
  blob: new Blob(["small photo"]),
  body: { type: "image", name: "fête.jpg", mime: "image/jpeg", size: 11, width: 4, height: 3, thumb: "" },
};
const toDraft = (...files: File[]): Draft => ({ files, captions: new Map(), isOriginal: false, text: "", to: [] });

/** Draft keeper with these files, which are in the store. */
const saveDraft = async (tab: SyncClient, chat: ConversationId, ...files: File[]): Promise<DraftKeeper> => {
  const keeper = await DraftKeeper.open(tab, chat);
  if (!keeper) throw new Error("another page has all slots");
  keeper.save(toDraft(...files));
  await eventually(async () => expect((await keeper.load())?.files).toHaveLength(files.length));
  return keeper;
};

/** Counts the writes of file bytes from now on. Rejects those for which `isFull` is true. */
const countWrites = (isFull: () => Promise<boolean> | boolean = () => false) => {
  const written: string[] = [];
  for (const method of ["put", "add"] as const) {
    const write = IDBObjectStore.prototype[method];
    vi.spyOn(IDBObjectStore.prototype, method).mockImplementation(function (this: IDBObjectStore, ...args) {
      if (this.name !== "bytes") return write.apply(this, args);
      if (isFull()) throw new DOMException("full", "QuotaExceededError");
      written.push(args[0].id);
      return write.apply(this, args);
    });
  }
  return written;
};

const filesOf = (server: ModelServer, chat: ConversationId) =>
  server.log(chat).messages.map(({ body }) => findAttachment(body)?.file ?? "");

afterEach(() => {
  vi.restoreAllMocks();
});

describe("a file that is sent as it was chosen", () => {
  it("is written to the phone's storage only once, from the draft to the sent message", async () => {
    const { server, amina, chat } = makePair();
    const tab = await makeDevice(server, amina).openTab();
    const written = countWrites();
    const keeper = await saveDraft(tab, chat, letter);
    await enqueueFiles(tab, [chat], [asChosen], await keeper.prepareToSend());
    await keeper.discard();
    await waitUntilDeviceSynced(server, tab, chat);
    expect(filesOf(server, chat)).toEqual(written);
    expect(written).toHaveLength(1);
    expect(server.files.bytes(getOnlyFile(server).id)).toEqual(makeBytes(size));
    expect(await countUnsent(tab)).toEqual({ outbox: 0, uploads: 0, files: 1 });
    expect(listUnsentContent(tab.unsent.list(), chat).files).toEqual([]);
  });

  it("is written once also if it is sent before its draft was saved, or by the page after a crash", async () => {
    const { server, amina, chat } = makePair();
    const phone = makeDevice(server, amina);
    const first = await phone.openTab();
    const written = countWrites();
    const keeper = await DraftKeeper.open(first, chat);
    keeper?.save(toDraft(letter));
    await enqueueFiles(first, [chat], [asChosen], await keeper?.prepareToSend());
    await keeper?.discard();
    await waitUntilDeviceSynced(server, first, chat);
    expect(filesOf(server, chat)).toEqual(written);
    await (await saveDraft(first, chat, letter)).close();
    await phone.kill(first);
    const second = await phone.openTab();
    const again = await DraftKeeper.open(second, chat);
    const blob = (await again?.load())?.files[0] ?? new File([], "lost");
    await enqueueFiles(second, [chat], [{ ...asChosen, blob }], await again?.prepareToSend());
    await again?.discard();
    await waitUntilDeviceSynced(server, second, chat);
    expect(filesOf(server, chat)).toEqual(written);
    expect(written).toHaveLength(2);
  });

  it("arrives although its draft is saved once more while it is sent, and then discarded", async () => {
    const { server, amina, chat } = makePair();
    const phone = makeDevice(server, amina);
    const tab = await phone.openTab();
    phone.faults.isOffline = true;
    const keeper = await saveDraft(tab, chat, letter, photo);
    await enqueueFiles(tab, [chat], [asChosen], await keeper.prepareToSend());
    keeper.save(toDraft(letter));
    await eventually(async () => expect(await keeper.load()).toBeDefined());
    keeper.save(toDraft(photo));
    await eventually(async () => expect((await keeper.load())?.files[0]?.name).toBe("fête.jpg"));
    await keeper.discard();
    expect(await countUnsent(tab)).toEqual({ outbox: 1, uploads: 1, files: 1 });
    phone.faults.isOffline = false;
    phone.wake();
    await waitUntilDeviceSynced(server, tab, chat);
    expect(server.files.bytes(getOnlyFile(server).id)).toEqual(makeBytes(size));
  });

  it("needs no room, and the original of a compressed file is deleted if there is no room for both", async () => {
    const { server, amina, chat } = makePair();
    const tab = await makeDevice(server, amina).openTab();
    const keeper = await saveDraft(tab, chat, letter, photo);
    const remove = IDBObjectStore.prototype.delete;
    const deleted: unknown[] = [];
    vi.spyOn(IDBObjectStore.prototype, "delete").mockImplementation(function (this: IDBObjectStore, ...args) {
      if (this.name === "bytes") deleted.push(args[0]);
      return remove.apply(this, args);
    });
    const prepared = await keeper.prepareToSend();
    const written = countWrites(() => !deleted.includes(prepared.savedFiles.get(photo)));
    await enqueueFiles(tab, [chat], [asChosen, compressed], prepared);
    expect(deleted).not.toContain(prepared.savedFiles.get(letter));
    expect(written).toHaveLength(1);
    await keeper.discard();
    await waitUntilDeviceSynced(server, tab, chat);
    expect(server.log(chat).messages).toHaveLength(2);
    expect(await countUnsent(tab)).toEqual({ outbox: 0, uploads: 0, files: 2 });
  });

  it("is written again if the browser has lost its bytes", async () => {
    const { server, amina, chat } = makePair();
    const tab = await makeDevice(server, amina).openTab();
    const keeper = await saveDraft(tab, chat, letter);
    await tab.unsent.bytes.delete(await listUnsentBytes(tab));
    await enqueueFiles(tab, [chat], [asChosen], await keeper.prepareToSend());
    await waitUntilDeviceSynced(server, tab, chat);
    expect(server.files.bytes(getOnlyFile(server).id)).toEqual(makeBytes(size));
  });

  it("is not sent without its bytes, if its draft was deleted at that moment", async () => {
    const { server, amina, chat } = makePair();
    const tab = await makeDevice(server, amina).openTab();
    const keeper = await saveDraft(tab, chat, letter);
    const prepared = await keeper.prepareToSend();
    await discardDrafts(tab, chat);
    await expect(enqueueFiles(tab, [chat], [asChosen], prepared)).rejects.toMatchObject({ code: "unavailable" });
    await eventually(async () => expect(await countUnsent(tab)).toEqual({ outbox: 0, uploads: 0, files: 0 }));
    await enqueueFiles(tab, [chat], [asChosen], await keeper.prepareToSend());
    await waitUntilDeviceSynced(server, tab, chat);
    expect(server.files.bytes(getOnlyFile(server).id)).toEqual(makeBytes(size));
  });
});
