import { describe, expect, it, vi } from "vitest";
import { type ConversationId, createUuid, type Uuid } from "#contract/ids.ts";
import { UnsentJournal } from "#lib/unsent/unsent-journal.ts";
import { TextDrafts } from "#sync/drafts/text-drafts.ts";
import type { SyncClient } from "#sync/engine/sync-client.ts";
import { enqueueText, recoverJournaledTexts } from "#sync/sending/enqueue.ts";
import { toStoreName } from "#sync/store/database.ts";
import { listSentTexts, purgeJournal } from "#sync/store/journal.ts";
import { eventually } from "#tests/support/model/eventually.ts";
import { getContext, listShown, waitUntilDeviceSynced } from "#tests/support/model/model-checks.ts";
import type { ModelDevice } from "#tests/support/model/model-device.ts";
import { makeDevice, makePair } from "#tests/support/model/model-fixtures.ts";

const placeOf = (phone: ModelDevice) => ({ platform: phone.platform(), me: phone.user });

/** Blocks all later writes of the page, as if it were closed before they finish. */
const stall = (tab: SyncClient): void => {
  const { strict, store } = getContext(tab);
  const never = () => new Promise(() => {}) as never;
  vi.spyOn(strict, "transaction").mockImplementation(never);
  vi.spyOn(store.meta, "put").mockImplementation(never);
  vi.spyOn(store.meta, "delete").mockImplementation(never);
  tab.unsent.close();
};

const draftIn = (tab: SyncClient, chat: ConversationId): string => new TextDrafts(tab).read(chat);
const listJournaledDrafts = ({ user, localStorage }: ModelDevice) =>
  new UnsentJournal(user, localStorage, "reader").list().map(({ entry }) => entry.row ?? null);

const makePhone = async (): Promise<ReturnType<typeof makePair> & { phone: ModelDevice; first: SyncClient }> => {
  const world = makePair();
  const phone = makeDevice(world.server, world.amina);
  const first = await phone.openTab();
  await waitUntilDeviceSynced(world.server, first, world.chat);
  return { ...world, phone, first };
};

describe("a page that is closed before its store has the written text", () => {
  it("leaves a text that was just sent, which is sent once, and no draft of it", async () => {
    const { server, chat, phone, first } = await makePhone();
    const drafts = new TextDrafts(first);
    drafts.save(chat, "just s");
    await drafts.flush();
    drafts.save(chat, "just sent");
    stall(first);
    void drafts.send(chat, "just sent");
    first.unsent.journalPending();
    await phone.kill(first);
    const second = await phone.openTab();
    await waitUntilDeviceSynced(server, second, chat);
    await eventually(async () => expect(await listShown(second, chat)).toEqual(["just sent sent"]));
    expect(await draftIn(second, chat)).toBe("");
    expect(listSentTexts(placeOf(phone))).toEqual([]);
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

  it("does not resend a text that the store and the server have after all", async () => {
    const { server, chat, phone, first } = await makePhone();
    if (phone.localStorage) vi.spyOn(phone.localStorage, "removeItem").mockImplementation(() => {});
    await enqueueText(first, chat, "once");
    await waitUntilDeviceSynced(server, first, chat);
    await eventually(async () => expect(await listShown(first, chat)).toEqual(["once sent"]));
    await phone.kill(first);
    vi.restoreAllMocks();
    expect(listSentTexts(placeOf(phone))).toHaveLength(1);
    const second = await phone.openTab();
    await eventually(async () => {
      expect(listSentTexts(placeOf(phone))).toEqual([]);
      expect(await getContext(second).store.outbox.count()).toBe(0);
    });
    expect(await listShown(second, chat)).toEqual(["once sent"]);
    expect(server.log(chat).messages).toHaveLength(1);
  });

  it("does not resend a text that the store has as sent, also while the server is unreachable", async () => {
    const { server, chat, phone, first } = await makePhone();
    if (phone.localStorage) vi.spyOn(phone.localStorage, "removeItem").mockImplementation(() => {});
    await enqueueText(first, chat, "once");
    await waitUntilDeviceSynced(server, first, chat);
    await eventually(async () => expect(await listShown(first, chat)).toEqual(["once sent"]));
    await phone.kill(first);
    vi.restoreAllMocks();
    phone.faults.isOffline = true;
    const second = await phone.openTab();
    await eventually(() => expect(listSentTexts(placeOf(phone))).toEqual([]));
    expect(await listShown(second, chat)).toEqual(["once sent"]);
  });

  it("and is still open sends a text once that another page recovers at the same time", async () => {
    const { server, chat, phone, first } = await makePhone();
    const second = await phone.openTab();
    const texts = Array.from({ length: 10 }, (_, n) => `text ${n}`);
    const writing = texts.map((text) => enqueueText(first, chat, text));
    await Promise.all([...writing, recoverJournaledTexts(second), recoverJournaledTexts(second)]);
    await waitUntilDeviceSynced(server, first, chat);
    expect(server.log(chat).messages).toHaveLength(texts.length);
    expect(phone.notices).toEqual([]);
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
    await recoverJournaledTexts(second);
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
    const later = new TextDrafts(other);
    later.type(chat, "yes", "yes, tomorrow");
    await later.flush();
    await phone.kill(first);
    await recoverJournaledTexts(other);
    await waitUntilDeviceSynced(server, other, chat);
    await eventually(async () => expect(await listShown(other, chat)).toEqual(["yes, tomorrow sent"]));
    expect(await draftIn(other, chat)).toBe("yes");
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
    expect(listJournaledDrafts(phone)).toEqual([]);
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

  it("leaves the draft of a text that could not be sent for lack of room", async () => {
    const { chat, phone, first } = await makePhone();
    phone.faults.isOffline = true;
    const drafts = new TextDrafts(first);
    drafts.save(chat, "no room");
    await drafts.flush();
    vi.spyOn(getContext(first).strict, "transaction").mockRejectedValue(new DOMException("", "QuotaExceededError"));
    await expect(drafts.send(chat, "no room")).rejects.toBeDefined();
    await phone.kill(first);
    vi.restoreAllMocks();
    expect(await draftIn(await phone.openTab(), chat)).toBe("no room");
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
    expect(listJournaledDrafts(phone)).toEqual([]);
    expect(await draftIn(second, chat)).toBe("half a thought");
    // Another person on this browser gets nothing of it, and signing out deletes it.
    kept.save(chat, "half a thought more");
    second.unsent.journalPending();
    expect(listJournaledDrafts(phone)).toMatchObject([{ text: "half a thought more" }]);
    const benoitDevice = makeDevice(server, benoit as Uuid);
    benoitDevice.localStorage = phone.localStorage;
    expect(await draftIn(await benoitDevice.openTab(), chat)).toBe("");
    purgeJournal(placeOf(phone));
    expect(listJournaledDrafts(phone)).toEqual([]);
  });

  it("keeps the draft itself if the browser has no journal for sent texts", async () => {
    const { chat, phone, first } = await makePhone();
    await phone.close(first);
    phone.localStorage = undefined;
    const tab = await phone.openTab();
    const drafts = new TextDrafts(tab);
    drafts.save(chat, "typed");
    const { strict } = getContext(tab);
    vi.spyOn(strict, "transaction").mockImplementation(() => new Promise(() => {}) as never);
    void drafts.send(chat, "typed");
    await drafts.flush();
    vi.restoreAllMocks();
    await phone.kill(tab);
    expect(await draftIn(await phone.openTab(), chat)).toBe("typed");
  });
});

describe("a text that the first view has sent", () => {
  /** Offline device whose journal has a text that the server stored after all that the device knows. */
  const makeEarlyText = async (epochOfText?: string) => {
    const world = await makePhone();
    const { server, chat, phone, first } = world;
    await enqueueText(first, chat, "before");
    await waitUntilDeviceSynced(server, first, chat);
    await phone.kill(first);
    phone.faults.isOffline = true;
    const cid = createUuid();
    const at = Date.now();
    const place = { epoch: epochOfText ?? server.log(chat).epoch, seq: 2, at };
    const entry = { conversation: chat, text: "early", at, n: 1, stored: place };
    phone.localStorage?.setItem(`${toStoreName(phone.user)}-sent-${cid}`, JSON.stringify(entry));
    return { ...world, cid };
  };

  it("is shown as sent without a network and is not sent again", async () => {
    const { chat, phone } = await makeEarlyText();
    const tab = await phone.openTab();
    await eventually(async () => expect(await listShown(tab, chat)).toEqual(["before sent", "early sent"]));
    expect(await getContext(tab).store.outbox.count()).toBe(0);
    expect(listSentTexts(placeOf(phone))).toEqual([]);
  });

  it("ends no draft that an earlier page left, although it begins like it", async () => {
    const { chat, phone } = await makeEarlyText();
    const row = { conversation: chat, text: "ear", at: 1 };
    const journal = new UnsentJournal(phone.user, phone.localStorage, "an earlier page");
    journal.write({ table: "drafts", key: chat, at: 1, row });
    const tab = await phone.openTab();
    const drafts = new TextDrafts(tab);
    await drafts.flush();
    await eventually(async () => expect(await listShown(tab, chat)).toEqual(["before sent", "early sent"]));
    expect(await drafts.read(chat)).toBe("ear");
  });

  it("ends the draft of the app that it continued", async () => {
    const { chat, phone, cid } = await makeEarlyText();
    const key = `${toStoreName(phone.user)}-sent-${cid}`;
    const entry = JSON.parse(phone.localStorage?.getItem(key) ?? "");
    phone.localStorage?.setItem(key, JSON.stringify({ ...entry, draft: "ear" }));
    const row = { conversation: chat, text: "ear", at: 1 };
    const journal = new UnsentJournal(phone.user, phone.localStorage, "another page");
    journal.write({ table: "drafts", key: chat, at: 1, row });
    const tab = await phone.openTab();
    await eventually(() => expect(draftIn(tab, chat)).toBe(""));
    expect(await listShown(tab, chat)).toEqual(["before sent", "early sent"]);
  });

  it("is stored once by pages that recover it at the same time", async () => {
    const { chat, phone } = await makeEarlyText();
    const tabs = [await phone.openTab(), await phone.openTab()];
    await Promise.all([...tabs, ...tabs].map(recoverJournaledTexts));
    for (const tab of tabs) expect(await listShown(tab, chat)).toEqual(["before sent", "early sent"]);
    expect(await getContext(tabs[0] as SyncClient).store.outbox.count()).toBe(0);
  });

  it("is sent by the app if the server's log is another one than this device's", async () => {
    const { server, chat, phone } = await makeEarlyText("other");
    const tab = await phone.openTab();
    await eventually(async () => expect(await listShown(tab, chat)).toEqual(["before sent", "early sending"]));
    phone.faults.isOffline = false;
    await waitUntilDeviceSynced(server, tab, chat);
    await eventually(async () => expect(await listShown(tab, chat)).toEqual(["before sent", "early sent"]));
    expect(server.log(chat).messages).toHaveLength(2);
  });
});
