import { IDBObjectStore } from "fake-indexeddb";
import { afterEach, describe, expect, it, vi } from "vitest";
import { createUuid, privateConversationId } from "#contract/ids.ts";
import { deleteUnsentDatabase, toUnsentName } from "#lib/unsent/unsent-database.ts";
import { UnsentJournal } from "#lib/unsent/unsent-journal.ts";
import { type DraftRow, typeText } from "#sync/unsent/draft-row.ts";
import { changeDraft } from "#sync/unsent/drafts.ts";
import { type ChangeOptions, UnsentStore } from "#sync/unsent/unsent-store.ts";
import { eventually } from "#tests/support/model/eventually.ts";
import { ModelDevice } from "#tests/support/model/model-device.ts";
import { ModelServer } from "#tests/support/model/model-server.ts";

const chat = privateConversationId(createUuid(), createUuid());
const opened: UnsentStore[] = [];

const makeDevice = (): ModelDevice => {
  const server = new ModelServer();
  return new ModelDevice(server, server.addPerson("Amina"));
};

const open = async (device: ModelDevice): Promise<UnsentStore> => {
  const store = new UnsentStore(device.platform(), device.user);
  opened.push(store);
  await store.open();
  return store;
};

const type = (store: UnsentStore, text: string, before?: string, options?: ChangeOptions) => {
  const at = (store.find("drafts", chat)?.at ?? 0) + 1;
  const typed = { text, before, at, parkedId: `parked ${at}` };
  return changeDraft(store, chat, (draft) => typeText(draft, typed), options);
};

const textIn = (store: UnsentStore): string | undefined => store.state.get()?.drafts.get(chat)?.text;
const listParked = (store: UnsentStore) => store.find("drafts", chat)?.parked?.map(({ text }) => text) ?? [];
const journalOf = ({ localStorage, user }: ModelDevice) => new UnsentJournal(user, localStorage, "reader").list();
const fill = () =>
  vi.spyOn(IDBObjectStore.prototype, "put").mockImplementation(() => {
    throw new DOMException("full", "QuotaExceededError");
  });

afterEach(() => {
  vi.restoreAllMocks();
  for (const store of opened.splice(0)) store.close();
});

describe("a change", () => {
  it("is in the image at once, and in the next page after its commit", async () => {
    const device = makeDevice();
    const store = await open(device);
    const committed = type(store, "Mbote");
    expect(textIn(store)).toBe("Mbote");
    await committed;
    expect(textIn(await open(device))).toBe("Mbote");
    expect(journalOf(device)).toEqual([]);
  });

  it("of another page reaches the image, with what is not committed here", async () => {
    const device = makeDevice();
    const [first, second] = [await open(device), await open(device)];
    await type(first, "un");
    await eventually(() => expect(textIn(second)).toBe("un"));
    const held = type(second, "un deux", "un", { after: new Promise(() => {}) });
    held.catch(() => undefined);
    await type(first, "un et demi", "un");
    await eventually(() => expect(listParked(second)).toEqual(["un et demi"]));
    expect(textIn(second)).toBe("un deux");
  });

  it("parks a text that another page committed and this one was not told of", async () => {
    const device = makeDevice();
    const first = await open(device);
    const frozen = new UnsentStore(device.platform({ isAsleep: true }), device.user);
    opened.push(frozen);
    await frozen.open();
    await type(first, "du premier", "");
    expect(textIn(frozen)).toBeUndefined();
    await type(frozen, "du second", "");
    expect(textIn(frozen)).toBe("du second");
    expect(listParked(frozen)).toEqual(["du premier"]);
  });

  it("that is typed is committed soon, many together, and observers are told once", async () => {
    const device = makeDevice();
    const store = await open(device);
    const listener = vi.fn();
    store.state.subscribe(listener);
    const put = vi.spyOn(IDBObjectStore.prototype, "put");
    const typed = ["M", "Mb", "Mbo"].map((text) => type(store, text, undefined, { isTyped: true }));
    expect(store.find("drafts", chat)?.text).toBe("Mbo");
    expect(listener).not.toHaveBeenCalled();
    await Promise.all(typed);
    expect(put).toHaveBeenCalledTimes(1);
    expect(textIn(store)).toBe("Mbo");
    expect(textIn(await open(device))).toBe("Mbo");
  });

  it("waits for what it depends on, and is withdrawn if that fails", async () => {
    const device = makeDevice();
    const store = await open(device);
    await type(store, "à envoyer");
    let fail = () => {};
    const failing = new Promise((_, reject) => {
      fail = () => reject(new Error("not stored"));
    });
    const withdrawn = type(store, "", undefined, { after: failing });
    expect(textIn(store)).toBeUndefined();
    await store.flush();
    expect(textIn(await open(device))).toBe("à envoyer");
    fail();
    await withdrawn;
    expect(textIn(store)).toBe("à envoyer");
    await type(store, "", undefined, { after: Promise.resolve() });
    expect((await open(device)).find("drafts", chat)).toBeUndefined();
  });

  it("that a full device refuses stays in the image and the journal, and is tried again", async () => {
    const device = makeDevice();
    const store = await open(device);
    const full = fill();
    await expect(type(store, "un")).rejects.toMatchObject({ name: "QuotaExceededError" });
    await expect(type(store, "un deux", "un")).rejects.toMatchObject({ name: "QuotaExceededError" });
    expect(textIn(store)).toBe("un deux");
    expect(journalOf(device)).toMatchObject([{ entry: { row: { text: "un deux" } } }]);
    full.mockRestore();
    await eventually(() => expect(journalOf(device)).toEqual([]));
    expect(textIn(await open(device))).toBe("un deux");
  });
});

describe("the journal", () => {
  it("holds what is not committed when the page is left; the next page commits it and shows it at once", async () => {
    const device = makeDevice();
    const store = await open(device);
    await type(store, "Mb");
    void type(store, "Mbote", "Mb", { isTyped: true });
    device.enterBackground();
    store.close();
    expect(journalOf(device)).toHaveLength(1);
    const next = await open(device);
    expect(textIn(next)).toBe("Mbote");
    expect(listParked(next)).toEqual([]);
    expect(journalOf(device)).toEqual([]);
    expect(textIn(await open(device))).toBe("Mbote");
  });

  it("replaces only the row that its page had seen; a later text of another page stays, and no text is lost", async () => {
    const device = makeDevice();
    const [first, second] = [await open(device), await open(device)];
    void type(first, "du premier", "", { isTyped: true });
    first.journalPending();
    first.close();
    await type(second, "a");
    await type(second, "du second");
    const next = await open(device);
    expect(textIn(next)).toBe("du second");
    expect(listParked(next)).toEqual(["du premier"]);
  });

  it("is replayed under a lock: two pages that start at once write it once", async () => {
    const device = makeDevice();
    const store = await open(device);
    void type(store, "Mbote", "", { isTyped: true });
    device.enterBackground();
    store.close();
    const put = vi.spyOn(IDBObjectStore.prototype, "put");
    const next = await Promise.all([open(device), open(device)]);
    for (const one of next) await eventually(() => expect(textIn(one)).toBe("Mbote"));
    expect(put).toHaveBeenCalledTimes(1);
    expect(journalOf(device)).toEqual([]);
  });

  it("does not say that a text was sent before something else holds it", async () => {
    const device = makeDevice();
    const store = await open(device);
    await type(store, "à envoyer");
    const end = (isJournaled: boolean) => {
      void type(store, "", undefined, { after: new Promise(() => {}), isJournaled });
      device.enterBackground();
    };
    end(false);
    expect(journalOf(device)).toEqual([]);
    store.close();
    const next = await open(device);
    expect(textIn(next)).toBe("à envoyer");
    void type(next, "", undefined, { after: new Promise(() => {}), isJournaled: true });
    device.enterBackground();
    next.close();
    expect(textIn(await open(device))).toBeUndefined();
  });

  it("still ends a sent draft whose last version was committed after the entry was written", async () => {
    const device = makeDevice();
    const store = await open(device);
    await type(store, "just s");
    void type(store, "just sent", "just s", { isTyped: true });
    void type(store, "", undefined, { after: new Promise(() => {}), isJournaled: true });
    store.journalPending();
    await store.flush();
    store.close();
    expect(textIn(await open(device))).toBeUndefined();
  });

  it("keeps entries and rows that this version cannot read", async () => {
    const device = makeDevice();
    device.localStorage?.setItem(`${toUnsentName(device.user)}-x-drafts-1`, "{");
    const later = { table: "messages", key: "1", at: 1, row: { cid: "1" } };
    device.localStorage?.setItem(`${toUnsentName(device.user)}-x-messages-1`, JSON.stringify(later));
    const store = await open(device);
    await type(store, "Mbote");
    expect(device.localStorage?.length).toBe(2);
    const unreadable = { conversation: "of a later version" } as unknown as DraftRow;
    await store.change("drafts", "of a later version", () => unreadable);
    const next = await open(device);
    expect([...(next.state.get()?.drafts.keys() ?? [])]).toEqual([chat]);
  });
});

describe("without its database the store", () => {
  it("writes the rows back when the browser deleted it, and does not after a sign-out", async () => {
    const device = makeDevice();
    const store = await open(device);
    await type(store, "Mbote");
    await deleteUnsentDatabase(device.user, device.indexedDB);
    await eventually(async () => expect(textIn(await open(device))).toBe("Mbote"));
    device.endSession();
    await deleteUnsentDatabase(device.user, device.indexedDB);
    expect(textIn(await open(device))).toBeUndefined();
  });

  it("hands the rows from page to page in the journal, one entry each, where the browser has none", async () => {
    const device = makeDevice();
    vi.spyOn(device, "platform").mockImplementation((...life) => {
      const { indexedDb: _, ...platform } = ModelDevice.prototype.platform.apply(device, life);
      return platform;
    });
    const reopen = async (before?: UnsentStore) => {
      before?.close();
      return open(device);
    };
    const first = await reopen();
    await expect(type(first, "un", "")).rejects.toMatchObject({ name: "InvalidStateError" });
    const second = await reopen(first);
    await expect(type(second, "autre", "un")).rejects.toBeDefined();
    const third = await reopen(second);
    expect([textIn(third), listParked(third)]).toEqual(["autre", []]);
    await expect(type(third, "", "autre")).rejects.toBeDefined();
    expect(textIn(await reopen(third))).toBeUndefined();
    expect(journalOf(device)).toHaveLength(1);
  });

  it("works from the image and the journal where it does not open", async () => {
    const device = makeDevice();
    device.storeTimeoutMs = 50;
    const never = { open: () => ({}) } as unknown as typeof device.indexedDB;
    const { indexedDB } = device;
    device.indexedDB = never;
    const store = await open(device);
    await expect(type(store, "Mbote")).rejects.toMatchObject({ name: "TimeoutError" });
    expect(textIn(store)).toBe("Mbote");
    store.close();
    device.indexedDB = indexedDB;
    expect(textIn(await open(device))).toBe("Mbote");
  });
});

it("a row belongs to one person of the device", async () => {
  const device = makeDevice();
  await type(await open(device), "d'Amina");
  const other = new UnsentStore(device.platform(), createUuid());
  opened.push(other);
  await other.open();
  expect(other.state.get()?.drafts.get(chat)).toBeUndefined();
});
