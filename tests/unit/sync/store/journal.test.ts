import { IDBObjectStore } from "fake-indexeddb";
import { afterEach, describe, expect, it, vi } from "vitest";
import { type ConversationId, createUuid, type Uuid } from "#contract/ids.ts";
import { deleteUnsentDatabase, toPromise, UnsentDatabase } from "#lib/unsent/unsent-database.ts";
import { UnsentJournal } from "#lib/unsent/unsent-journal.ts";
import { TextDrafts } from "#sync/drafts/text-drafts.ts";
import type { SyncClient } from "#sync/engine/sync-client.ts";
import { discardUnsentMessage } from "#sync/sending/discard-message.ts";
import { enqueueText } from "#sync/sending/enqueue.ts";
import { purgeJournal } from "#sync/store/journal.ts";
import { listOutbox } from "#sync/unsent/messages.ts";
import { eventually } from "#tests/support/model/eventually.ts";
import { getContext, listShown, waitUntilDeviceSynced } from "#tests/support/model/model-checks.ts";
import type { ModelDevice } from "#tests/support/model/model-device.ts";
import { makeDevice, makePair } from "#tests/support/model/model-fixtures.ts";

/** Blocks all later writes of the page, as if it were closed before they finish. */
const stall = (tab: SyncClient): void => {
  const { store } = getContext(tab);
  const never = () => new Promise(() => {}) as never;
  vi.spyOn(store.meta, "put").mockImplementation(never);
  vi.spyOn(store.meta, "delete").mockImplementation(never);
  tab.unsent.close();
};

/** Leaves the device without room for rows, until the mocks are restored. */
const fill = (): void => {
  vi.spyOn(IDBObjectStore.prototype, "put").mockImplementation(() => {
    throw new DOMException("the phone is full", "QuotaExceededError");
  });
};

const draftIn = (tab: SyncClient, chat: ConversationId): string => new TextDrafts(tab).read(chat);
const listJournaled = ({ user, localStorage }: ModelDevice) =>
  new UnsentJournal(user, localStorage, "reader").list().map(({ entry }) => entry.row ?? null);

const goOffline = (phone: ModelDevice): void => {
  phone.faults.isOffline = true;
  for (const socket of phone.server.inbox(phone.user).sockets) socket.end(1006);
};
const goOnline = (phone: ModelDevice): void => {
  phone.faults.isOffline = false;
  phone.wake();
};

const makePhone = async (): Promise<ReturnType<typeof makePair> & { phone: ModelDevice; first: SyncClient }> => {
  const world = makePair();
  const phone = makeDevice(world.server, world.amina);
  const first = await phone.openTab();
  await waitUntilDeviceSynced(world.server, first, world.chat);
  return { ...world, phone, first };
};

afterEach(() => {
  vi.restoreAllMocks();
});

describe("a page that is closed before its database has the written text", () => {
  it("leaves a text that was just sent, which is sent once, and no draft of it", async () => {
    const { server, chat, phone, first } = await makePhone();
    const drafts = new TextDrafts(first);
    drafts.save(chat, "just s");
    await drafts.flush();
    drafts.save(chat, "just sent");
    stall(first);
    void drafts.send(chat, "just sent");
    await phone.kill(first);
    const second = await phone.openTab();
    expect(draftIn(second, chat)).toBe("");
    await waitUntilDeviceSynced(server, second, chat);
    await eventually(async () => expect(await listShown(second, chat)).toEqual(["just sent sent"]));
    expect(server.log(chat).messages).toHaveLength(1);
    await eventually(() => expect(listJournaled(phone)).toEqual([]));
  });

  it("leaves texts in the order they were sent, also offline", async () => {
    const { server, chat, phone, first } = await makePhone();
    phone.faults.isOffline = true;
    server.inbox(phone.user).sockets.forEach((socket) => {
      socket.end(1006);
    });
    stall(first);
    for (const text of ["one", "two", "three"]) void enqueueText(first, chat, text);
    await phone.kill(first);
    const second = await phone.openTab();
    const sending = ["one sending", "two sending", "three sending"];
    await eventually(async () => expect(await listShown(second, chat)).toEqual(sending));
    phone.faults.isOffline = false;
    await waitUntilDeviceSynced(server, second, chat);
    await eventually(async () => expect(await listShown(second, chat)).toEqual(["one sent", "two sent", "three sent"]));
  });

  it("leaves text typed after a sent message", async () => {
    const { chat, phone, first } = await makePhone();
    phone.faults.isOffline = true;
    stall(first);
    const drafts = new TextDrafts(first);
    drafts.save(chat, "sent");
    void drafts.send(chat, "sent");
    drafts.save(chat, "and more");
    first.unsent.journalPending();
    await phone.kill(first);
    vi.restoreAllMocks();
    const second = await phone.openTab();
    expect(await listShown(second, chat)).toEqual(["sent sending"]);
    expect(await draftIn(second, chat)).toBe("and more");
  });

  it("leaves no earlier version of a text that was just sent", async () => {
    const { server, chat, phone, first } = await makePhone();
    const drafts = new TextDrafts(first);
    drafts.save(chat, "corected");
    await drafts.flush();
    drafts.save(chat, "corrected");
    stall(first);
    void drafts.send(chat, "corrected");
    await phone.kill(first);
    const second = await phone.openTab();
    await waitUntilDeviceSynced(server, second, chat);
    await eventually(async () => expect(await listShown(second, chat)).toEqual(["corrected sent"]));
    expect(await draftIn(second, chat)).toBe("");
  });

  it("takes no draft with it that another page began after the sending, although the text begins like it", async () => {
    const { server, chat, phone, first } = await makePhone();
    const other = await phone.openTab();
    const drafts = new TextDrafts(first);
    drafts.save(chat, "yes, tomorrow");
    await drafts.flush();
    stall(first);
    void drafts.send(chat, "yes, tomorrow");
    phone.clockOffsetMs += 10;
    const later = new TextDrafts(other);
    later.type(chat, "yes", "yes, tomorrow");
    await later.flush();
    await phone.kill(first);
    const third = await phone.openTab();
    await waitUntilDeviceSynced(server, other, chat);
    await eventually(async () => expect(await listShown(other, chat)).toEqual(["yes, tomorrow sent"]));
    expect([draftIn(other, chat), draftIn(third, chat)]).toEqual(["yes", "yes"]);
  });

  it("leaves a draft that another page continues while the next one starts", async () => {
    const { chat, phone, first } = await makePhone();
    const typing = new TextDrafts(first);
    typing.type(chat, "half", "");
    await typing.flush();
    const starting = new TextDrafts(await phone.openTab());
    typing.type(chat, "half a thought", "half");
    await typing.flush();
    await eventually(() => expect(starting.read(chat)).toBe("half a thought"));
    expect(listJournaled(phone)).toEqual([]);
  });

  it("leaves a draft that it began while another page emptied its field after a sending", async () => {
    const { chat, phone, first } = await makePhone();
    const other = await phone.openTab();
    const drafts = new TextDrafts(first);
    drafts.type(chat, "sent", "");
    await drafts.send(chat, "sent");
    const later = new TextDrafts(other);
    later.type(chat, "next", "");
    stall(other);
    other.unsent.journalPending();
    drafts.type(chat, "", "sent");
    first.unsent.journalPending();
    await drafts.flush();
    await phone.kill(other);
    vi.restoreAllMocks();
    const third = new TextDrafts(await phone.openTab());
    await third.flush();
    expect(await third.read(chat)).toBe("next");
  });

  it("leaves the last characters of a draft, instead of the stored version", async () => {
    const { server, benoit, chat, phone, first } = await makePhone();
    const drafts = new TextDrafts(first);
    drafts.save(chat, "half");
    await drafts.flush();
    drafts.save(chat, "half a thought");
    stall(first);
    first.unsent.journalPending();
    await phone.kill(first);
    const second = await phone.openTab();
    const kept = new TextDrafts(second);
    expect(await kept.read(chat)).toBe("half a thought");
    await kept.flush();
    expect(listJournaled(phone)).toEqual([]);
    expect(await draftIn(second, chat)).toBe("half a thought");
    // Another person on this browser gets nothing of it, and signing out deletes it.
    kept.save(chat, "half a thought more");
    second.unsent.journalPending();
    expect(listJournaled(phone)).toMatchObject([{ text: "half a thought more" }]);
    const benoitDevice = makeDevice(server, benoit as Uuid);
    benoitDevice.localStorage = phone.localStorage;
    expect(await draftIn(await benoitDevice.openTab(), chat)).toBe("");
    purgeJournal({ platform: phone.platform(), me: phone.user });
    expect(listJournaled(phone)).toEqual([]);
  });

  it("leaves the draft of a text that it could write nowhere", async () => {
    const { chat, phone, first } = await makePhone();
    await phone.close(first);
    phone.localStorage = undefined;
    const tab = await phone.openTab();
    const drafts = new TextDrafts(tab);
    drafts.save(chat, "typed");
    await drafts.flush();
    stall(tab);
    void drafts.send(chat, "typed");
    await phone.kill(tab);
    const next = await phone.openTab();
    expect(draftIn(next, chat)).toBe("typed");
    expect(await listShown(next, chat)).toEqual([]);
  });
});

describe("a text that waits for the network", () => {
  it("is sent once although the browser deleted the database while the page was closed", async () => {
    const { server, chat, phone, first } = await makePhone();
    goOffline(phone);
    for (const text of ["one", "two"]) await enqueueText(first, chat, text);
    const cids = listOutbox(first.unsent).map(({ cid }) => cid);
    await phone.close(first);
    await deleteUnsentDatabase(phone.user, phone.indexedDB);
    const second = await phone.openTab();
    expect(await listShown(second, chat)).toEqual(["one sending", "two sending"]);
    await phone.close(second);
    await deleteUnsentDatabase(phone.user, phone.indexedDB);
    const third = await phone.openTab();
    goOnline(phone);
    await waitUntilDeviceSynced(server, third, chat);
    expect(server.log(chat).messages.map(({ cid }) => cid)).toEqual(cids);
    await eventually(() => expect(listJournaled(phone)).toEqual([]));
  });

  it("is as the database had it last after its loss: one that the server refused is not sent again", async () => {
    const { server, chat, phone, first } = await makePhone();
    server.refuse = (_, command) => (command.type === "send" ? { error: "contact_blocked" } : undefined);
    await enqueueText(first, chat, "refused");
    await eventually(async () => expect(await listShown(first, chat)).toEqual(["refused failed"]));
    await phone.close(first);
    await deleteUnsentDatabase(phone.user, phone.indexedDB);
    server.refuse = () => undefined;
    const second = await phone.openTab();
    await waitUntilDeviceSynced(server, second, chat);
    expect(await listShown(second, chat)).toEqual(["refused failed"]);
    expect(server.log(chat).messages).toEqual([]);
  });

  it("and that its author discards does not return, whichever pages have seen it", async () => {
    const { chat, phone, first } = await makePhone();
    goOffline(phone);
    await enqueueText(first, chat, "regretted");
    const second = await phone.openTab();
    const [message] = listOutbox(second.unsent);
    await enqueueText(first, chat, "meant");
    await discardUnsentMessage(second, message?.cid ?? "");
    expect(listJournaled(phone)).toMatchObject([{ body: { text: "meant" } }]);
    for (const tab of [first, second]) await phone.close(tab);
    await deleteUnsentDatabase(phone.user, phone.indexedDB);
    expect(await listShown(await phone.openTab(), chat)).toEqual(["meant sending"]);
  });

  it("is stored once by pages that open at the same time, and sent once", async () => {
    const { server, chat, phone, first } = await makePhone();
    goOffline(phone);
    stall(first);
    for (const text of ["one", "two"]) void enqueueText(first, chat, text);
    await phone.kill(first);
    vi.restoreAllMocks();
    const tabs = await Promise.all([phone.openTab(), phone.openTab()]);
    for (const tab of tabs)
      await eventually(async () => expect(await listShown(tab, chat)).toEqual(["one sending", "two sending"]));
    goOnline(phone);
    for (const tab of tabs) await waitUntilDeviceSynced(server, tab, chat);
    expect(server.log(chat).messages).toHaveLength(2);
    await eventually(() => expect(listJournaled(phone)).toEqual([]));
  });
});

describe("a text that the server has", () => {
  /** Device whose journal still has a text that its closed page has sent and stored in the log. */
  const makeLeftText = async () => {
    const world = await makePhone();
    const { server, chat, phone, first } = world;
    const kept = phone.localStorage && vi.spyOn(phone.localStorage, "removeItem").mockImplementation(() => {});
    await enqueueText(first, chat, "once");
    await waitUntilDeviceSynced(server, first, chat);
    await phone.kill(first);
    kept?.mockRestore();
    expect(listJournaled(phone)).toMatchObject([{ body: { text: "once" } }]);
    return world;
  };

  it("is not stored there again, although the journal still has it", async () => {
    const { server, chat, phone } = await makeLeftText();
    const second = await phone.openTab();
    await eventually(() => expect(listJournaled(phone)).toEqual([]));
    await waitUntilDeviceSynced(server, second, chat);
    expect(await listShown(second, chat)).toEqual(["once sent"]);
    expect(server.log(chat).messages).toHaveLength(1);
  });

  it("is shown once and as sent while the server is unreachable, although the journal still has it", async () => {
    const { chat, phone } = await makeLeftText();
    phone.faults.isOffline = true;
    expect(await listShown(await phone.openTab(), chat)).toEqual(["once sent"]);
  });

  it("is sent once by a page that is still open while another one opens and finds it in the journal", async () => {
    const { server, chat, phone, first } = await makePhone();
    const texts = Array.from({ length: 10 }, (_, n) => `text ${n}`);
    const writing = texts.map((text) => enqueueText(first, chat, text));
    await Promise.all([...writing, phone.openTab(), phone.openTab()]);
    await waitUntilDeviceSynced(server, first, chat);
    expect(server.log(chat).messages.map(({ body }) => body)).toMatchObject(texts.map((text) => ({ text })));
    expect(phone.notices).toEqual([]);
    await eventually(() => expect(listJournaled(phone)).toEqual([]));
  });

  it("leaves the journal of a first view, which the service worker sent", async () => {
    const { server, chat, phone, first } = await makePhone();
    await phone.close(first);
    phone.faults.isOffline = true;
    const [cid, at] = [createUuid(), phone.now()];
    const body = { type: "text", text: "early" };
    const row = { cid, conversation: chat, order: at, body, state: "queued", attempts: 0, createdAt: at, at };
    new UnsentJournal(phone.user, phone.localStorage, "a first view").write({ table: "outbox", key: cid, row, at });
    const sent = { epoch: server.log(chat).epoch, seq: 1, at };
    const database = new UnsentDatabase(phone.user, { indexedDB: phone.indexedDB, openChannel: () => undefined });
    await database.write(["outbox"], (access) => toPromise(access("outbox").put({ ...row, sent, at: at + 1 })));
    database.close();
    const tab = await phone.openTab();
    expect(await listShown(tab, chat)).toEqual(["early sent"]);
    await eventually(() => expect([listOutbox(tab.unsent), listJournaled(phone)]).toEqual([[], []]));
    expect(await listShown(tab, chat)).toEqual(["early sent"]);
  });
});

describe("on a device without room a text", () => {
  it("is sent from memory, once, and the person is told", async () => {
    const { server, chat, phone, first } = await makePhone();
    goOffline(phone);
    fill();
    const drafts = new TextDrafts(first);
    drafts.save(chat, "no room");
    await drafts.send(chat, "no room");
    expect([await listShown(first, chat), draftIn(first, chat)]).toEqual([["no room sending"], ""]);
    expect(first.storageTrouble.get()).toBe("full");
    goOnline(phone);
    await eventually(() => expect(server.log(chat).messages).toHaveLength(1));
    vi.restoreAllMocks();
    await waitUntilDeviceSynced(server, first, chat);
    expect(server.log(chat).messages).toHaveLength(1);
    await eventually(() => expect(first.storageTrouble.get()).toBeUndefined());
  });

  it("survives the page in the journal", async () => {
    const { server, chat, phone, first } = await makePhone();
    goOffline(phone);
    fill();
    await enqueueText(first, chat, "no room");
    await phone.kill(first);
    vi.restoreAllMocks();
    const second = await phone.openTab();
    expect(await listShown(second, chat)).toEqual(["no room sending"]);
    goOnline(phone);
    await waitUntilDeviceSynced(server, second, chat);
    expect(server.log(chat).messages).toHaveLength(1);
  });

  it("leaves its draft if the journal has no room either and the page ends", async () => {
    const { chat, phone, first } = await makePhone();
    goOffline(phone);
    const drafts = new TextDrafts(first);
    drafts.save(chat, "no room");
    await drafts.flush();
    fill();
    if (phone.localStorage)
      vi.spyOn(phone.localStorage, "setItem").mockImplementation(() => {
        throw new DOMException("the phone is full", "QuotaExceededError");
      });
    await drafts.send(chat, "no room");
    expect(await listShown(first, chat)).toEqual(["no room sending"]);
    await phone.kill(first);
    vi.restoreAllMocks();
    const second = await phone.openTab();
    expect([await listShown(second, chat), draftIn(second, chat)]).toEqual([[], "no room"]);
  });

  it("is in the database where only the journal is full", async () => {
    const { chat, phone, first } = await makePhone();
    goOffline(phone);
    if (phone.localStorage)
      vi.spyOn(phone.localStorage, "setItem").mockImplementation(() => {
        throw new DOMException("full", "QuotaExceededError");
      });
    await enqueueText(first, chat, "in the database");
    expect(first.storageTrouble.get()).toBeUndefined();
    await phone.kill(first);
    vi.restoreAllMocks();
    expect(await listShown(await phone.openTab(), chat)).toEqual(["in the database sending"]);
  });
});
