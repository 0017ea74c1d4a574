import { IDBDatabase, IDBObjectStore } from "fake-indexeddb";
import { afterEach, describe, expect, it, vi } from "vitest";
import { createUuid, privateConversationId } from "#contract/ids.ts";
import { deleteUnsentDatabase, toPromise, toUnsentName, UnsentDatabase } from "#lib/unsent/unsent-database.ts";
import { UnsentJournal } from "#lib/unsent/unsent-journal.ts";
import { type DraftRow, typeText } from "#sync/unsent/draft-row.ts";
import { changeDraft, toDraftChange } from "#sync/unsent/drafts.ts";
import { changeMessage, deleteMessage, listOutbox } from "#sync/unsent/messages.ts";
import type { OutboxRow } from "#sync/unsent/outbox-row.ts";
import type { UnsentChange } from "#sync/unsent/unsent-state.ts";
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

/** Types without waiting for the commit: the page may end before it. */
const startTyping = (store: UnsentStore, text: string, before: string) => {
  type(store, text, before, { isTyped: true }).catch(() => undefined);
};

/** Message with a text, or with a file. */
const toMessage = (text: string, file?: string): OutboxRow => ({
  ...{ cid: createUuid(), conversation: chat, order: 1, createdAt: 1, at: 1, state: "queued", attempts: 0 },
  body: file ? { type: "file", file, name: text, mime: "application/pdf", size: 1 } : { type: "text", text },
});

const insert = (row: OutboxRow): UnsentChange => ({ table: "outbox", key: row.cid, change: (now) => now ?? row });
const endDraft = toDraftChange(chat, (draft) => typeText(draft, { text: "", before: undefined, at: 2, parkedId: "" }));
const listMessages = (store: UnsentStore) =>
  listOutbox(store).map(({ body }) => ("text" in body ? body.text : body.type));

/** Writes rows as another user of the database does, whose announcement does not arrive. */
const writeUnannounced = async (device: ModelDevice, ...rows: OutboxRow[]): Promise<void> => {
  const { user, indexedDB } = device;
  const database = new UnsentDatabase(user, { indexedDB, openChannel: () => undefined });
  await database.write(["outbox"], async (access) => {
    for (const row of rows) await toPromise(access("outbox").put(row));
  });
  database.close();
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
    startTyping(second, "un deux", "un");
    await type(first, "un et demi", "un");
    await eventually(() => expect(listParked(second)).toEqual(["un et demi"]));
    expect(textIn(second)).toBe("un deux");
  });

  it("of another user of the database is in the image after `refresh`, although it was not announced", async () => {
    const device = makeDevice();
    const store = await open(device);
    await writeUnannounced(device, toMessage("Mbote"));
    expect(listMessages(store)).toEqual([]);
    await store.refresh();
    expect(listMessages(store)).toEqual(["Mbote"]);
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

  it("of a message whose body this version does not know is kept, and the next page lists it", async () => {
    const device = makeDevice();
    const body = { type: "hologram", text: "Mbote" } as unknown as OutboxRow["body"];
    const message = { ...toMessage("Mbote"), body };
    await (await open(device)).changeAll([insert(message)]);
    expect((await open(device)).find("outbox", message.cid)).toEqual(message);
  });

  it("is told to observers when it is made, and not again when it is committed", async () => {
    const store = await open(makeDevice());
    const listener = vi.fn();
    store.state.subscribe(listener);
    await type(store, "Mbote");
    expect(listener).toHaveBeenCalledTimes(1);
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

  it("of several rows is in the image and in the next page completely", async () => {
    const device = makeDevice();
    const store = await open(device);
    await type(store, "Mbote");
    const committed = store.changeAll([insert(toMessage("Mbote")), endDraft]);
    expect([listMessages(store), textIn(store)]).toEqual([["Mbote"], undefined]);
    await committed;
    const next = await open(device);
    expect([listMessages(next), textIn(next)]).toEqual([["Mbote"], undefined]);
  });

  it("of several rows is not committed at all if one of them cannot be", async () => {
    const device = makeDevice();
    device.localStorage = undefined;
    const store = await open(device);
    await type(store, "Mbote");
    const put = IDBObjectStore.prototype.put;
    vi.spyOn(IDBObjectStore.prototype, "put").mockImplementation(function (this: IDBObjectStore, ...args) {
      if (args[0].order === 2) throw new DOMException("full", "QuotaExceededError");
      return put.apply(this, args);
    });
    const second = { ...toMessage("na yo"), order: 2 };
    const changes = [endDraft, insert(toMessage("Mbote")), insert(second)];
    await expect(store.changeAll(changes)).rejects.toMatchObject({ name: "QuotaExceededError" });
    expect([listMessages(store), textIn(store)]).toEqual([["Mbote", "na yo"], undefined]);
    store.close();
    const next = await open(device);
    expect([listMessages(next), textIn(next)]).toEqual([[], "Mbote"]);
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
    startTyping(store, "Mbote", "Mb");
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
    startTyping(first, "du premier", "");
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
    startTyping(store, "Mbote", "");
    device.enterBackground();
    store.close();
    const put = vi.spyOn(IDBObjectStore.prototype, "put");
    const next = await Promise.all([open(device), open(device)]);
    for (const one of next) await eventually(() => expect(textIn(one)).toBe("Mbote"));
    expect(put).toHaveBeenCalledTimes(1);
    expect(journalOf(device)).toEqual([]);
  });

  it("stays for the next page if this one is closed before it has committed what was left", async () => {
    const device = makeDevice();
    const message = toMessage("Mbote");
    const journal = new UnsentJournal(device.user, device.localStorage, "a page before");
    journal.write({ table: "outbox", key: message.cid, at: 1, row: message });
    const closed = new UnsentStore(device.platform(), device.user);
    const opening = closed.open();
    closed.close();
    await opening;
    expect(listMessages(await open(device))).toEqual(["Mbote"]);
  });

  it("still ends a sent draft whose last version was committed after the entry was written", async () => {
    const device = makeDevice();
    const store = await open(device);
    await type(store, "just s");
    const transact = vi.spyOn(IDBDatabase.prototype, "transaction");
    const typed = type(store, "just sent", "just s");
    while (transact.mock.calls.length === 0) await Promise.resolve(); // it is being committed
    void store.changeAll([endDraft]);
    store.journalPending();
    void typed.then(() => store.close()); // before the end of the draft is committed
    await typed;
    expect(textIn(await open(device))).toBeUndefined();
  });

  it("keeps a text message, as it was committed last, until its row is deleted", async () => {
    const device = makeDevice();
    const store = await open(device);
    const message = toMessage("Mbote");
    await store.changeAll([insert(message)]);
    expect(journalOf(device)).toMatchObject([{ entry: { table: "outbox", key: message.cid, row: message } }]);
    await store.changeAll([changeMessage(message.cid, 2, (row) => ({ ...row, attempts: 1 }))]);
    expect(journalOf(device)).toMatchObject([{ entry: { row: { attempts: 1 } } }]);
    await store.changeAll([deleteMessage(message.cid)]);
    expect(journalOf(device)).toEqual([]);
  });

  it("keeps a committed message with a file, so that its loss is seen, and no committed draft", async () => {
    const device = makeDevice();
    const store = await open(device);
    await type(store, "Mbote");
    expect(journalOf(device)).toEqual([]);
    const message = toMessage("lettre.pdf", createUuid());
    await store.changeAll([insert(message)]);
    expect(journalOf(device)).toMatchObject([{ entry: { key: message.cid } }]);
  });

  it("has nothing of a text message any more once one page has deleted it, whichever pages have written it", async () => {
    const device = makeDevice();
    const [message, other] = [toMessage("Mbote"), { ...toMessage("na yo"), order: 2 }];
    const first = await open(device);
    await first.changeAll([insert(message), insert(other)]);
    const second = await open(device);
    await second.changeAll([changeMessage(message.cid, 2, (row) => ({ ...row, attempts: 1 }))]);
    await first.changeAll([changeMessage(message.cid, 3, (row) => ({ ...row, attempts: 2 }))]);
    expect(journalOf(device)).toHaveLength(3);
    await second.changeAll([deleteMessage(message.cid)]);
    expect(journalOf(device)).toMatchObject([{ entry: { key: other.cid } }]);
    for (const store of [first, second]) store.close();
    await deleteUnsentDatabase(device.user, device.indexedDB);
    expect(listMessages(await open(device))).toEqual(["na yo"]);
  });

  it("brings text messages back from page to page, however often the database is lost meanwhile", async () => {
    const device = makeDevice();
    const first = await open(device);
    await first.changeAll([insert(toMessage("Mbote"))]);
    first.close();
    for (let losses = 0; losses < 2; losses++) {
      await deleteUnsentDatabase(device.user, device.indexedDB);
      const next = await open(device);
      expect(listMessages(next)).toEqual(["Mbote"]);
      next.close();
    }
    expect(journalOf(device)).toHaveLength(1);
  });

  it("does not undo what another user of the database noted later in a message", async () => {
    const device = makeDevice();
    const store = await open(device);
    const message = toMessage("Mbote");
    await store.changeAll([insert(message)]);
    store.close();
    const sent = { epoch: "e", seq: 1, at: 1 };
    await writeUnannounced(device, { ...message, sent, at: 2 });
    expect((await open(device)).find("outbox", message.cid)).toMatchObject({ sent });
  });

  it("of the first view of this page is taken over when that has ended", async () => {
    const device = makeDevice();
    const writer = createUuid();
    const [message, left] = [toMessage("early"), toMessage("of a page before")];
    const write = (by: string, row: OutboxRow) =>
      new UnsentJournal(device.user, device.localStorage, by).write({ table: "outbox", key: row.cid, at: 1, row });
    write(writer, message);
    write(createUuid(), left);
    const platform = { ...device.platform(), firstViewWriter: writer };
    const store = new UnsentStore(platform, device.user);
    opened.push(store);
    await store.open();
    expect(listMessages(store)).toEqual(["of a page before"]);
    await store.endFirstView();
    expect(listMessages(store)).toEqual(expect.arrayContaining(["early", "of a page before"]));
    expect(listMessages(await open(device))).toHaveLength(2);
    expect(journalOf(device).filter(({ id }) => id.includes(writer))).toEqual([]);
  });

  it("keeps entries and rows that this version cannot read", async () => {
    const device = makeDevice();
    device.localStorage?.setItem(`${toUnsentName(device.user)}-x-drafts-1`, "{");
    const later = { table: "reactions", key: "1", at: 1, row: { cid: "1" } };
    device.localStorage?.setItem(`${toUnsentName(device.user)}-x-reactions-1`, JSON.stringify(later));
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
