import { IDBObjectStore } from "fake-indexeddb";
import { afterEach, describe, expect, it, vi } from "vitest";
import { createUuid, privateConversationId } from "#contract/ids.ts";
import { fileMaxBytes } from "#contract/limits/files.ts";
import { clearConversationHistory } from "#sync/commands/conversation-commands.ts";
import { DraftKeeper, hasLeftDraft } from "#sync/drafts/draft-keeper.ts";
import { TextDrafts } from "#sync/drafts/text-drafts.ts";
import { listUnsentContent } from "#sync/drafts/unsent-content.ts";
import { appendRecordingChunk, findRecordingDraft } from "#sync/drafts/voice-drafts.ts";
import type { SyncClient } from "#sync/engine/sync-client.ts";
import { trimFileCache } from "#sync/files/download-cache.ts";
import { enqueueFiles } from "#sync/sending/files/send-files.ts";
import { deleteAllButUnsent } from "#sync/store/open-database.ts";
import type { Draft } from "#sync/store/view-models.ts";
import type { DraftTarget } from "#sync/unsent/attachment-rows.ts";
import { parkText } from "#sync/unsent/draft-row.ts";
import { changeDraft, findDraft } from "#sync/unsent/drafts.ts";
import { eventually } from "#tests/support/model/eventually.ts";
import { getContext, readCommittedDraft, waitUntilDeviceSynced } from "#tests/support/model/model-checks.ts";
import { makeDevice, makePair } from "#tests/support/model/model-fixtures.ts";
import { countUnsent, listUnsentBytes, makePicture } from "#tests/support/model/outgoing-files.ts";

const open = async (tab: SyncClient, place: DraftTarget): Promise<DraftKeeper> => {
  const keeper = await DraftKeeper.open(tab, place);
  if (!keeper) throw new Error("another page keeps what is chosen there");
  return keeper;
};

const photo = new File(["photo"], "fête.jpg", { type: "image/jpeg", lastModified: 5_000 });
const letter = new File(["letter"], "lettre.pdf", { type: "application/pdf" });
const choice = (files: File[], more: Partial<Draft> = {}): Draft => ({
  files,
  captions: new Map(),
  isOriginal: false,
  text: "",
  to: [],
  ...more,
});

const keptOf = async (keeper: DraftKeeper) => {
  const found = await keeper.load();
  if (!found) return undefined;
  const files = found.files.map(async (file) => [file.name, file.type, await file.text(), found.captions.get(file)]);
  return { ...found, captions: undefined, files: await Promise.all(files) };
};

const countFiles = async (tab: SyncClient) => (await countUnsent(tab)).files;

/** A phone with room for this many unsent files. */
const limitFiles = async (tab: SyncClient, max: number): Promise<void> => {
  const stored = new Set<unknown>(await listUnsentBytes(tab));
  const { put, delete: remove } = IDBObjectStore.prototype;
  vi.spyOn(IDBObjectStore.prototype, "put").mockImplementation(function (this: IDBObjectStore, ...args) {
    if (this.name === "bytes" && stored.size >= max) throw new DOMException("full", "QuotaExceededError");
    if (this.name === "bytes") stored.add(args[0].id);
    return put.apply(this, args);
  });
  vi.spyOn(IDBObjectStore.prototype, "delete").mockImplementation(function (this: IDBObjectStore, key) {
    if (this.name === "bytes") stored.delete(key);
    return remove.call(this, key);
  });
};

afterEach(() => {
  vi.restoreAllMocks();
});

describe("chosen but unsent attachments", () => {
  it("are restored with captions and order after the page was killed", async () => {
    const { server, amina, chat } = makePair();
    const phone = makeDevice(server, amina);
    const first = await phone.openTab();
    const keeper = await open(first, chat);
    keeper.save(choice([letter]));
    keeper.save(choice([photo, letter], { captions: new Map([[photo, "Maman"]]), isOriginal: true }));
    await eventually(async () => expect((await keeper.load())?.files).toHaveLength(2));
    await keeper.close(); // The browser releases the locks of a page that dies.
    await phone.kill(first);
    const second = await phone.openTab();
    const again = await open(second, chat);
    expect(await keptOf(again)).toMatchObject({
      files: [
        ["fête.jpg", "image/jpeg", "photo", "Maman"],
        ["lettre.pdf", "application/pdf", "letter", undefined],
      ],
      isOriginal: true,
    });
    // Removed files are deleted, and the others are not written again.
    const found = await again.load();
    again.save(choice([...(found?.files ?? [])].slice(1)));
    await again.close();
    expect(await countFiles(second)).toBe(1);
    expect(await keptOf(await open(second, chat))).toMatchObject({
      files: [["lettre.pdf", "application/pdf", "letter", undefined]],
    });
  });

  it.each(["waiting", "being written"])(
    "have the last caption and audience, though the page was closed while they were %s",
    async (moment) => {
      const { server, amina, chat } = makePair();
      const phone = makeDevice(server, amina);
      const first = await phone.openTab();
      // The server's changes are stored: no other operation waits for the store that will not answer.
      await waitUntilDeviceSynced(server, first, chat);
      const keeper = await open(first, "tala");
      keeper.save(choice([photo], { text: "Mbote", audience: "everyone" }));
      await eventually(async () => expect((await keeper.load())?.text).toBe("Mbote"));
      // The page is closed before it is done.
      const put = vi.spyOn(IDBObjectStore.prototype, "put").mockImplementation(() => {
        throw new DOMException("closed", "AbortError");
      });
      keeper.save(choice([photo], { text: "Mbote na bino", audience: "nobody" }));
      if (moment === "being written") await eventually(() => expect(put).toHaveBeenCalled());
      phone.enterBackground();
      await keeper.close(); // The browser releases the locks of a page that dies.
      await phone.kill(first);
      put.mockRestore();
      const again = await open(await phone.openTab(), "tala");
      expect(await keptOf(again)).toMatchObject({
        text: "Mbote na bino",
        audience: "nobody",
        files: [["fête.jpg", "image/jpeg", "photo", undefined]],
      });
      await again.discard();
      expect(await (await open(await phone.openTab(), "tala")).load()).toBeUndefined();
    },
  );

  it("of a status keep text and audience on a phone without room for its picture", async () => {
    const { server, amina } = makePair();
    const phone = makeDevice(server, amina);
    const first = await phone.openTab();
    await limitFiles(first, 0);
    const onFull = vi.fn();
    const keeper = await DraftKeeper.open(first, "tala", undefined, onFull);
    keeper?.save(choice([photo], { text: "Mbote", audience: "contacts" }));
    await eventually(() => expect(onFull).toHaveBeenCalled());
    await keeper?.close(); // The browser releases the locks of a page that dies.
    await phone.kill(first);
    const again = await open(await phone.openTab(), "tala");
    expect(await again.load()).toMatchObject({ text: "Mbote", audience: "contacts", files: [] });
  });

  it("of a broadcast are restored with its text and people, and an empty draft is removed", async () => {
    const { server, amina, benoit } = makePair();
    const tab = await makeDevice(server, amina).openTab();
    const keeper = await open(tab, "broadcast");
    keeper.save(choice([], { text: "Réunion", to: [benoit] }));
    await keeper.close();
    const again = await open(tab, "broadcast");
    expect(await again.load()).toMatchObject({ text: "Réunion", to: [benoit] });
    again.save(choice([]));
    await again.close();
    expect(await (await open(tab, "broadcast")).load()).toBeUndefined();
  });

  it("are removed once sent or discarded, and nothing is stored of files never meant to be sent", async () => {
    const { server, amina, chat } = makePair();
    const tab = await makeDevice(server, amina).openTab();
    const empty = new File([], "vide.txt");
    const huge = new File(["x"], "film.mp4");
    Object.defineProperty(huge, "size", { value: fileMaxBytes + 1 });
    const sent = await open(tab, chat);
    sent.save(choice([photo, empty, huge]));
    await eventually(async () => expect(await countFiles(tab)).toBe(1));
    await enqueueFiles(tab, [chat], [makePicture(1_000)], await sent.prepareToSend());
    expect(await sent.load()).toBeUndefined();
    await sent.discard();
    await waitUntilDeviceSynced(server, tab, chat);
    const keeper = await open(tab, chat);
    keeper.save(choice([letter]));
    await eventually(async () => expect(await keeper.load()).toBeDefined());
    await keeper.discard();
    expect(await (await open(tab, chat)).load()).toBeUndefined();
    expect(await countFiles(tab)).toBe(1); // of the sent draft
  });

  it("are kept per page, and the next page adopts those of a closed one", async () => {
    const { server, amina, chat } = makePair();
    const phone = makeDevice(server, amina);
    const [first, second] = [await phone.openTab(), await phone.openTab()];
    const photoDraft = await open(first, chat);
    photoDraft.save(choice([photo], { captions: new Map([[photo, "in the first"]]) }));
    await eventually(async () => expect(await countFiles(first)).toBe(1));
    const letterDraft = await open(second, chat);
    expect(await letterDraft.load()).toBeUndefined();
    letterDraft.save(choice([letter]));
    await eventually(async () => expect(await countFiles(first)).toBe(2));
    const listNames = () =>
      listUnsentContent(first.unsent.list(), chat)
        .files.map(({ name }) => name)
        .sort();
    await eventually(() => expect(listNames()).toEqual(["fête.jpg", "lettre.pdf"]));
    // A page that is being closed releases its lock within a moment; the other page continues.
    const reopened = hasLeftDraft(second, chat).then(() => open(second, chat));
    await letterDraft.close();
    expect(await keptOf(await reopened)).toMatchObject({
      files: [["lettre.pdf", "application/pdf", "letter", undefined]],
    });
    await (await reopened).discard();
    expect(await keptOf(photoDraft)).toMatchObject({ files: [["fête.jpg", "image/jpeg", "photo", "in the first"]] });
    await photoDraft.close();
    await eventually(() => expect(listNames()).toEqual(["fête.jpg"]));
  });

  it("are not evicted to make room for other files", async () => {
    const { server, amina, chat } = makePair();
    const phone = makeDevice(server, amina);
    const [first, second] = [await phone.openTab(), await phone.openTab()];
    const keeper = await open(first, chat);
    keeper.save(choice([photo]));
    await eventually(() => expect(listUnsentContent(second.unsent.list(), chat).files).toHaveLength(1));
    phone.quota = 0;
    const context = getContext(second);
    await trimFileCache({ ...context, platform: { ...context.platform, now: () => phone.now() + 7 * 24 * 3_600_000 } });
    await keeper.close();
    expect(await keptOf(await open(second, chat))).toMatchObject({
      files: [["fête.jpg", "image/jpeg", "photo", undefined]],
    });
  });

  it("are not stored on a phone without room, and leave its room to uploads", async () => {
    const { server, amina, chat } = makePair();
    const phone = makeDevice(server, amina);
    const tab = await phone.openTab();
    const onStorageFull = vi.fn();
    const keeper = await DraftKeeper.open(tab, chat, undefined, onStorageFull);
    if (!keeper) throw new Error("no slot");
    keeper.save(choice([photo]));
    await eventually(async () => expect(await countFiles(tab)).toBe(1));
    expect(onStorageFull).not.toHaveBeenCalled();
    await limitFiles(tab, 1);
    keeper.save(choice([photo, letter]));
    await eventually(async () => expect(await countFiles(tab)).toBe(0));
    expect(onStorageFull).toHaveBeenCalledOnce();
    expect(tab.storageTrouble.get()).toBeUndefined();
    await keeper.close();
    const again = await open(tab, chat);
    again.save(choice([photo]));
    await eventually(async () => expect(await countFiles(tab)).toBe(1));
    await enqueueFiles(tab, [chat], [makePicture(1_000)], await again.prepareToSend());
    await waitUntilDeviceSynced(server, tab, chat);
    expect(server.log(chat).messages).toHaveLength(1);
  });

  it("wait with unsent messages for the same person when a session is ended from elsewhere", async () => {
    const { server, amina, benoit, chat } = makePair();
    const phone = makeDevice(server, amina);
    const tab = await phone.openTab();
    const keeper = await open(tab, chat);
    keeper.save(choice([photo]));
    await keeper.close();
    const id = createUuid();
    const group = await open(tab, "group");
    group.save(choice([], { text: "Famille", to: [benoit], id }));
    await group.close();
    await phone.close(tab);
    await deleteAllButUnsent(phone.platform(), amina);
    const again = await phone.openTab();
    expect(await keptOf(await open(again, chat))).toMatchObject({
      files: [["fête.jpg", "image/jpeg", "photo", undefined]],
    });
    // The id of an attempted group is stored with the draft, so that a retry creates the same group.
    expect(await keptOf(await open(again, "group"))).toMatchObject({ text: "Famille", to: [benoit], id });
  });
});

describe("a draft", () => {
  it("is the same in all tabs: the last one written counts, and an empty one is removed", async () => {
    const { server, amina, chat } = makePair();
    const phone = makeDevice(server, amina);
    const [first, second] = [await phone.openTab(), await phone.openTab()];
    const [firstDrafts, secondDrafts] = [new TextDrafts(first), new TextDrafts(second)];
    firstDrafts.save(chat, "one");
    expect(await firstDrafts.read(chat)).toBe("one");
    await eventually(async () => expect(await secondDrafts.read(chat)).toBe("one"));
    secondDrafts.save(chat, "two");
    await secondDrafts.flush();
    await eventually(async () => expect(await firstDrafts.read(chat)).toBe("two"));
    firstDrafts.save(chat, "");
    await eventually(async () => expect(await secondDrafts.read(chat)).toBe(""));
  });

  it("typed while the store is not open is stored", async () => {
    const { server, amina, chat } = makePair();
    const tab = await makeDevice(server, amina).openTab();
    const opened = tab.context.get();
    tab.context.set(undefined);
    new TextDrafts(tab).save(chat, "before the store");
    await eventually(async () => expect(await readCommittedDraft(tab, chat)).toBe("before the store"));
    tab.context.set(opened);
  });

  it("that is read while it is being written has the new text", async () => {
    const { server, amina, chat } = makePair();
    const tab = await makeDevice(server, amina).openTab();
    const drafts = new TextDrafts(tab);
    drafts.save(chat, "a");
    await drafts.flush();
    drafts.save(chat, "ab");
    const written = drafts.flush();
    expect(await drafts.read(chat)).toBe("ab");
    await written;
    expect(await readCommittedDraft(tab, chat)).toBe("ab");
  });

  it("stays in memory on a phone without room, without affecting the store", async () => {
    const { server, amina, chat } = makePair();
    const tab = await makeDevice(server, amina).openTab();
    const drafts = new TextDrafts(tab);
    vi.spyOn(IDBObjectStore.prototype, "put").mockImplementation(() => {
      throw new DOMException("full", "QuotaExceededError");
    });
    drafts.save(chat, "still here");
    await drafts.flush();
    expect(await drafts.read(chat)).toBe("still here");
    vi.restoreAllMocks();
    await drafts.flush();
    expect(await readCommittedDraft(tab, chat)).toBe("still here");
  });

  it("survives clearing the history, and is deleted with the conversation, as all unsent content there", async () => {
    const { server, amina, benoit, chat } = makePair();
    const tab = await makeDevice(server, amina).openTab();
    const other = privateConversationId(amina, server.addPerson("Chantal"));
    server.sendTexts(benoit, chat, "hello");
    await waitUntilDeviceSynced(server, tab, chat);
    const drafts = new TextDrafts(tab);
    drafts.save(chat, "half a thou");
    drafts.save(other, "another");
    await drafts.flush();
    const keeper = await open(tab, chat);
    keeper.save(choice([photo]));
    await keeper.close();
    await appendRecordingChunk(
      tab,
      { conversation: chat, startedAt: 1, mime: "audio/webm", ms: 10, levels: [] },
      new Blob(["x"]),
    );
    await changeDraft(tab.unsent, chat, (draft) => parkText(draft, { id: "1", text: "of another device" }));
    await clearConversationHistory(tab, chat, true);
    expect(await drafts.read(chat)).toBe("half a thou");
    expect(findDraft(tab.unsent, chat).parked).toHaveLength(1);
    expect(await findRecordingDraft(tab, chat)).toBeDefined();
    expect(await (await open(tab, chat)).load()).toBeDefined();
    await clearConversationHistory(tab, chat, false);
    expect(await drafts.read(chat)).toBe("");
    expect(findDraft(tab.unsent, chat).parked).toBeUndefined();
    expect(await findRecordingDraft(tab, chat)).toBeUndefined();
    expect(await countFiles(tab)).toBe(0);
    expect(await drafts.read(other)).toBe("another");
  });
});
