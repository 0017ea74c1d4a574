import { IDBObjectStore } from "fake-indexeddb";
import { afterEach, expect, it, vi } from "vitest";
import { createUuid } from "#contract/ids.ts";
import { dayMs } from "#contract/limits/durations.ts";
import { bytesTable, toPromise, UnsentDatabase } from "#lib/unsent/unsent-database.ts";
import { DraftKeeper } from "#sync/drafts/draft-keeper.ts";
import { listUnsentContent } from "#sync/drafts/unsent-content.ts";
import { enqueueText } from "#sync/sending/enqueue.ts";
import { toStoreName } from "#sync/store/database.ts";
import { putAttachmentDraft } from "#sync/unsent/attachment-drafts.ts";
import { eventually } from "#tests/support/model/eventually.ts";
import { listShown, waitUntilDeviceSynced } from "#tests/support/model/model-checks.ts";
import type { ModelDevice } from "#tests/support/model/model-device.ts";
import { makeDevice, makePair } from "#tests/support/model/model-fixtures.ts";
import {
  countUnsent,
  fourPartSize,
  getOnlyFile,
  listUnsentBytes,
  makeBytes,
  makePicture,
  sendFiles,
} from "#tests/support/model/outgoing-files.ts";

afterEach(() => {
  vi.restoreAllMocks();
});

const photo = new File(["photo"], "fête.jpg", { type: "image/jpeg" });
const toDraft = (...files: File[]) => ({ files, captions: new Map(), isOriginal: false, text: "", to: [] });

const openPhone = async () => {
  const world = makePair();
  const phone = makeDevice(world.server, world.amina);
  return { ...world, phone, tab: await phone.openTab() };
};

const deleteCache = (phone: ModelDevice) =>
  new Promise((resolve) => {
    phone.indexedDB.deleteDatabase(toStoreName(phone.user)).onsuccess = resolve;
  });

it("files that were sent or chosen outlive the loss of the cache, and arrive complete", async () => {
  const { server, chat, phone, tab } = await openPhone();
  phone.faults.isOffline = true;
  await sendFiles(tab, chat, makePicture(fourPartSize, "Maman"));
  const keeper = await DraftKeeper.open(tab, chat);
  keeper.save(toDraft(photo));
  await keeper.close();
  await phone.kill(tab);
  await deleteCache(phone);
  const next = await phone.openTab();
  await eventually(async () => expect(await listShown(next, chat)).toEqual(["image sending"]));
  const onRestored = vi.fn();
  await DraftKeeper.open(next, chat, onRestored);
  expect(await onRestored.mock.calls[0]?.[0].files[0].text()).toBe("photo");
  phone.faults.isOffline = false;
  phone.wake();
  await waitUntilDeviceSynced(server, next, chat);
  expect(server.log(chat).messages).toMatchObject([{ body: { type: "image", text: "Maman" } }]);
  expect(server.files.bytes(getOnlyFile(server).id)).toEqual(makeBytes(fourPartSize));
});

it("the messages, the uploads and the end of the draft are committed in one transaction, or none of them", async () => {
  const { chat, phone, tab } = await openPhone();
  phone.faults.isOffline = true;
  const keeper = await DraftKeeper.open(tab, chat);
  keeper.save(toDraft(photo));
  await keeper.prepareToSend();
  await tab.unsent.flush();
  const { put } = IDBObjectStore.prototype;
  vi.spyOn(IDBObjectStore.prototype, "put").mockImplementation(function (this: IDBObjectStore, ...args) {
    if (this.name === "uploads") throw new DOMException("broken", "UnknownError");
    return put.apply(this, args);
  });
  vi.spyOn(phone.localStorage ?? localStorage, "setItem").mockImplementation(() => {
    throw new DOMException("full", "QuotaExceededError");
  });
  const { enqueueFiles } = await import("#sync/sending/files/send-files.ts");
  const { blob: _, body } = makePicture(photo.size);
  await enqueueFiles(tab, [chat], [{ blob: photo, body }], await keeper.prepareToSend());
  expect(await listShown(tab, chat)).toEqual(["image sending"]);
  await phone.kill(tab);
  vi.restoreAllMocks();
  const next = await phone.openTab();
  expect(await listShown(next, chat)).toEqual([]);
  expect(listUnsentContent(next.unsent.list(), chat).files).toMatchObject([{ name: "fête.jpg" }]);
});

it("bytes are deleted once no row names them, also if the row never reached the disk", async () => {
  const { tab } = await openPhone();
  const [first, second] = [createUuid(), createUuid()];
  for (const id of [first, second]) await tab.unsent.bytes.put(id, new Blob([id]));
  const file = (id: string) => ({ id, name: "a", type: "", modified: 1, caption: "" });
  const draft = (...ids: string[]) => ({ files: ids.map(file), isOriginal: false, text: "", to: [] });
  const write = (...ids: string[]) => tab.unsent.changeAll([putAttachmentDraft({ key: "tala 1" }, draft(...ids), 1)]);
  await write(first, second);
  await write(first);
  await eventually(async () => expect(await listUnsentBytes(tab)).toEqual([first]));
  await tab.unsent.bytes.put(second, new Blob([second]));
  tab.unsent.stage([putAttachmentDraft({ key: "tala 2" }, draft(second), 1)]);
  await tab.unsent.changeAll([putAttachmentDraft({ key: "tala 2" }, undefined, 2)]);
  await eventually(async () => expect(await listUnsentBytes(tab)).toEqual([first]));
});

it("orphans are deleted after a day, and not bytes that a row of a later version names", async () => {
  const { amina, phone, tab } = await openPhone();
  const { bytes } = tab.unsent;
  const [orphan, named, young] = [createUuid(phone.now()), createUuid(phone.now()), createUuid(phone.now() + dayMs)];
  for (const id of [orphan, named, young]) await bytes.put(id, new Blob([id]));
  const database = new UnsentDatabase(amina, { indexedDB: phone.indexedDB, openChannel: () => undefined });
  await database.write(["attachments"], (access) =>
    toPromise(access("attachments").put({ key: "later", version: 9, pages: [{ id: named }] })),
  );
  await bytes.deleteOrphans(phone.now());
  expect((await listUnsentBytes(tab)).sort()).toEqual([named, orphan, young].sort());
  await bytes.deleteOrphans(phone.now() + 1);
  expect((await listUnsentBytes(tab)).sort()).toEqual([named, young].sort());
  database.close();
});

it("a draft whose files cannot be read at the moment is not replaced by a new one", async () => {
  const { chat, phone, tab } = await openPhone();
  const keeper = await DraftKeeper.open(tab, chat);
  keeper.save(toDraft(photo));
  await keeper.close();
  const { get } = IDBObjectStore.prototype;
  vi.spyOn(IDBObjectStore.prototype, "get").mockImplementation(function (this: IDBObjectStore, key) {
    if (this.name === bytesTable) throw new DOMException("not now", "UnknownError");
    return get.call(this, key);
  });
  vi.spyOn(console, "warn").mockImplementation(() => {});
  const other = await DraftKeeper.open(tab, chat);
  other.save(toDraft(new File(["letter"], "lettre.pdf")));
  await other.close();
  vi.restoreAllMocks();
  const names = () => listUnsentContent(tab.unsent.list(), chat).files.map(({ name }) => name);
  expect(names().sort()).toEqual(["fête.jpg", "lettre.pdf"]);
  await eventually(async () => expect((await countUnsent(tab)).files).toBe(2));
  await enqueueText(tab, chat, "…");
  expect(names()).toHaveLength(2);
  await phone.close(tab);
});

it("a file that is taken out of a draft and chosen again is stored again", async () => {
  const { chat, tab } = await openPhone();
  const keeper = await DraftKeeper.open(tab, chat);
  const letter = new File(["letter"], "lettre.pdf");
  for (const files of [[photo, letter], [letter], [photo, letter]]) {
    keeper.save(toDraft(...files));
    await eventually(() => expect(listUnsentContent(tab.unsent.list(), chat).files).toHaveLength(files.length));
    await tab.unsent.flush();
  }
  await eventually(async () => expect(await listUnsentBytes(tab)).toHaveLength(2));
  expect((await keeper.load())?.files).toHaveLength(2);
});

it("a file that is chosen while another page has a draft is stored at once, and both are offered later", async () => {
  const { chat, phone, tab } = await openPhone();
  const other = await phone.openTab();
  const first = await DraftKeeper.open(tab, chat);
  first.save(toDraft(photo));
  await eventually(() => expect(listUnsentContent(other.unsent.list(), chat).files).toHaveLength(1));
  const openedAt = phone.now();
  const second = await DraftKeeper.open(other, chat);
  second.save(toDraft(new File(["letter"], "lettre.pdf")));
  await eventually(() => expect(listUnsentContent(tab.unsent.list(), chat).files).toHaveLength(2));
  expect(phone.now() - openedAt).toBeLessThan(1_000);
  for (const keeper of [first, second]) await keeper.close();
  const next = await phone.openTab();
  const restored: string[] = [];
  for (let n = 0; n < 2; n++)
    await DraftKeeper.open(next, chat, ({ files }) => restored.push(...files.map(({ name }) => name)));
  expect(restored.sort()).toEqual(["fête.jpg", "lettre.pdf"]);
});
