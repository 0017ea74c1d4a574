import Dexie from "dexie";
import { IDBObjectStore } from "fake-indexeddb";
import { describe, expect, it, vi } from "vitest";
import type { ConversationId, Uuid } from "#contract/ids.ts";
import {
  clearConversationHistory,
  deleteMessageBySeq,
  runRelationCommand,
  setConversationMuted,
} from "#sync/commands/conversation-commands.ts";
import { fetchOwnProfile, mergeFetchedProfile } from "#sync/commands/fetch-profile.ts";
import type { SyncClient } from "#sync/engine/sync-client.ts";
import { ReadTracker } from "#sync/inbound/read-tracker.ts";
import { readConversation } from "#sync/queries/conversation.ts";
import { LiveQueries } from "#sync/queries/live-queries.ts";
import { readWindowAround } from "#sync/queries/message-window.ts";
import { readBlockedPeople } from "#sync/queries/people.ts";
import { enqueueText } from "#sync/sending/enqueue.ts";
import { readOwnProfile } from "#sync/store/own-profile-row.ts";
import { eventually } from "#tests/support/model/eventually.ts";
import {
  getContext,
  listConversations,
  listShown,
  listTexts,
  waitUntilDeviceSynced,
} from "#tests/support/model/model-checks.ts";
import { makeDevice, makePair } from "#tests/support/model/model-fixtures.ts";
import type { ModelServer } from "#tests/support/model/model-server.ts";

const asked = (server: ModelServer, type: string) =>
  server.executedCommands.filter(({ command }) => command.type === type);

const viewAll = async (tab: SyncClient, chat: ConversationId, seq: number) => {
  const viewed = new ReadTracker(tab);
  viewed.markRead(chat, seq);
  await viewed.flush();
};

describe("deleting for everybody", () => {
  it("a deleted message becomes a tombstone on every device at once, in the chat and in the list", async () => {
    const { server, amina, benoit, chat } = makePair();
    const aminaTab = await makeDevice(server, amina).openTab();
    const benoitTab = await makeDevice(server, benoit).openTab();
    for (const text of ["a", "b"]) await enqueueText(aminaTab, chat, text);
    await waitUntilDeviceSynced(server, benoitTab, chat);
    await waitUntilDeviceSynced(server, aminaTab, chat);
    await deleteMessageBySeq(aminaTab, chat, 2);
    expect(await listShown(aminaTab, chat)).toEqual([expect.stringMatching(/^a /), expect.stringMatching(/^deleted /)]);
    await waitUntilDeviceSynced(server, benoitTab, chat);
    expect(await listTexts(benoitTab, chat)).toEqual(["a", "deleted"]);
    expect((await listConversations(benoitTab))[0]).toMatchObject({ unread: 1, last: { body: { type: "deleted" } } });
    await waitUntilDeviceSynced(server, aminaTab, chat);
    expect(asked(server, "revised")).toEqual([]);
  });

  it("messages deleted while a device was offline are requested page by page, each once", async () => {
    const { server, amina, benoit, chat } = makePair();
    const phone = makeDevice(server, amina);
    const first = await phone.openTab();
    server.sendTexts(benoit, chat, ...Array.from({ length: 20 }, (_, i) => `m${i + 1}`));
    await waitUntilDeviceSynced(server, first, chat);
    await phone.close(first);
    server.revisedRowsMax = 3;
    for (let seq = 1; seq <= 8; seq++) server.execute(benoit, { type: "deleteForEveryone", conversation: chat, seq });
    const pages = asked(server, "page").length;
    const second = await phone.openTab();
    await waitUntilDeviceSynced(server, second, chat);
    expect((await listTexts(second, chat)).slice(0, 9)).toEqual([...Array<string>(8).fill("deleted"), "m9"]);
    expect(asked(server, "revised")).toHaveLength(3);
    expect(asked(server, "page")).toHaveLength(pages);
  });

  it("a message that arrives after its own deletion is not restored", async () => {
    const { server, amina, benoit, chat } = makePair();
    const phone = makeDevice(server, amina);
    const tab = await phone.openTab();
    server.sendTexts(benoit, chat, "before");
    await waitUntilDeviceSynced(server, tab, chat);
    // The message is held until later events have passed.
    phone.faults.random = () => 0;
    phone.faults.reorderDown = 1;
    server.sendTexts(benoit, chat, "regretted");
    phone.faults.reorderDown = 0;
    server.execute(benoit, { type: "deleteForEveryone", conversation: chat, seq: 2 });
    await waitUntilDeviceSynced(server, tab, chat);
    expect(await listTexts(tab, chat)).toEqual(["before", "deleted"]);
  });

  it("a page that was being sent when a message was deleted does not restore the message", async () => {
    const { server, amina, benoit, chat } = makePair();
    server.sendTexts(benoit, chat, ...Array.from({ length: 60 }, (_, i) => `m${i + 1}`));
    const phone = makeDevice(server, amina);
    const tab = await phone.openTab();
    await waitUntilDeviceSynced(server, tab, chat);
    const { store } = getContext(tab);
    const row = await store.conversations.get(chat);
    const question = {
      type: "page",
      conversation: chat,
      direction: "before",
      seq: row?.storedFrom ?? 0,
      limit: 40,
    } as const;
    const page = await tab.request(question);
    server.execute(benoit, { type: "deleteForEveryone", conversation: chat, seq: 5 });
    await waitUntilDeviceSynced(server, tab, chat);
    const { applyInTransaction: applyChanges } = await import("#sync/inbound/apply/apply-server-changes.ts");
    const request = { ...question, head: row?.head ?? 0, revised: row?.revised ?? 0 };
    await applyChanges(getContext(tab), [{ type: "page", request, page }]);
    tab.prioritizeConversation(chat);
    await waitUntilDeviceSynced(server, tab, chat);
    expect((await listTexts(tab, chat)).slice(3, 6)).toEqual(["m4", "deleted", "m6"]);
  });

  it("a deleted unread message does not count as unread any more", async () => {
    const { server, amina, benoit, chat } = makePair();
    const tab = await makeDevice(server, amina).openTab();
    server.sendTexts(benoit, chat, "a", "b");
    await eventually(async () => expect((await listConversations(tab))[0]).toMatchObject({ unread: 2 }));
    server.execute(benoit, { type: "deleteForEveryone", conversation: chat, seq: 2 });
    await eventually(async () => expect((await listConversations(tab))[0]).toMatchObject({ unread: 1 }));
    await waitUntilDeviceSynced(server, tab, chat);
  });

  it("without a network clearing and muting are refused with the reason, and nothing changes later", async () => {
    const { server, amina, chat } = makePair();
    const phone = makeDevice(server, amina);
    const tab = await phone.openTab();
    await enqueueText(tab, chat, "stays");
    await waitUntilDeviceSynced(server, tab, chat);
    phone.faults.isOffline = true;
    await expect(setConversationMuted(tab, chat, true)).rejects.toMatchObject({ code: "offline" });
    await expect(clearConversationHistory(tab, chat, false)).rejects.toMatchObject({ code: "offline" });
    phone.faults.isOffline = false;
    phone.wake();
    await waitUntilDeviceSynced(server, tab, chat);
    expect(await listTexts(tab, chat)).toEqual(["stays"]);
  });
});

describe("clearing and muting", () => {
  it("a cleared conversation is empty and stays in the list, on the other device too, until a new message", async () => {
    const { server, amina, benoit, chat } = makePair();
    const phone = await makeDevice(server, amina).openTab();
    const laptop = await makeDevice(server, amina).openTab();
    server.sendTexts(benoit, chat, "a", "b");
    for (const tab of [phone, laptop]) await waitUntilDeviceSynced(server, tab, chat);
    await clearConversationHistory(phone, chat, true);
    for (const tab of [phone, laptop]) {
      await eventually(async () =>
        expect(await listConversations(tab)).toMatchObject([{ id: chat, unread: 0, last: { body: null } }]),
      );
      expect(await listTexts(tab, chat)).toEqual([]);
    }
    server.sendTexts(benoit, chat, "c");
    for (const tab of [phone, laptop])
      await eventually(async () =>
        expect((await listConversations(tab))[0]).toMatchObject({ unread: 1, last: { body: { text: "c" } } }),
      );
  });

  it("a message that arrived unseen while its conversation was being deleted stays", async () => {
    const { server, amina, benoit, chat } = makePair();
    const phone = makeDevice(server, amina);
    const tab = await phone.openTab();
    server.sendTexts(benoit, chat, "seen");
    await waitUntilDeviceSynced(server, tab, chat);
    phone.requestMs = 4_000;
    const hiding = clearConversationHistory(tab, chat, false);
    phone.faults.dropDown = 1;
    server.sendTexts(benoit, chat, "unseen");
    phone.faults.dropDown = 0;
    await hiding;
    phone.requestMs = 0;
    await eventually(async () => expect(await listTexts(tab, chat)).toEqual(["unseen"]));
    // The answer does not contain the unread count, which is pushed separately.
    await eventually(async () => expect((await listConversations(tab))[0]).toMatchObject({ unread: 1 }));
  });

  it("a muted conversation is muted on every device", async () => {
    const { server, amina, benoit, chat } = makePair();
    const phone = await makeDevice(server, amina).openTab();
    const laptop = await makeDevice(server, amina).openTab();
    server.sendTexts(benoit, chat, "a");
    await waitUntilDeviceSynced(server, phone, chat);
    await setConversationMuted(phone, chat, true);
    for (const tab of [phone, laptop])
      await eventually(async () => expect((await listConversations(tab))[0]).toMatchObject({ muted: true }));
    await setConversationMuted(laptop, chat, false);
    await eventually(async () =>
      expect(await readConversation(getContext(phone), chat)).toMatchObject({ muted: false }),
    );
  });

  it("a timed mute ends on every device without a message from the server", async () => {
    const { server, amina, benoit, chat } = makePair();
    const device = makeDevice(server, amina);
    const [phone, laptop] = [await device.openTab(), await makeDevice(server, amina).openTab()];
    server.sendTexts(benoit, chat, "a");
    await waitUntilDeviceSynced(server, phone, chat);
    const watched = [phone, laptop].map((tab) => {
      const live = new LiveQueries(getContext(tab)).openQuery("chat", (context) =>
        readConversation(context, chat, context.clock),
      );
      return { live, stop: live.subscribe(() => {}) };
    });
    await setConversationMuted(phone, chat, true, { seconds: 60 });
    for (const { live } of watched)
      await eventually(() => expect(live.get()).toMatchObject({ muted: true, mutedUntil: expect.any(Number) }));
    await device.pass(50_000);
    for (const { live } of watched) expect(live.get()).toMatchObject({ muted: true });
    await device.pass(11_000);
    for (const { live, stop } of watched) {
      await eventually(() => expect(live.get()).toMatchObject({ muted: false, mutedUntil: null }));
      stop();
    }
  });
});

describe("blocking", () => {
  const blocks = async (tab: SyncClient, chat: ConversationId, other: Uuid, isBlocked: boolean) => {
    const { store } = getContext(tab);
    await eventually(async () => {
      expect((await readBlockedPeople(store)).map(({ id }) => id)).toEqual(isBlocked ? [other] : []);
      expect(await readConversation(getContext(tab), chat)).toMatchObject({ blocked: isBlocked });
    });
  };

  it("messages of a blocked person stay sent, and are missing for the other, also after unblocking", async () => {
    const { server, amina, benoit, chat } = makePair();
    const aminaTab = await makeDevice(server, amina).openTab();
    const benoitTab = await makeDevice(server, benoit).openTab();
    await enqueueText(benoitTab, chat, "let through");
    await eventually(async () => expect(await listTexts(aminaTab, chat)).toEqual(["let through"]));
    server.block(amina, chat, true);
    await blocks(aminaTab, chat, benoit, true);
    for (const text of ["withheld 1", "withheld 2"]) await enqueueText(benoitTab, chat, text);
    const withheld = ["withheld 1 sent", "withheld 2 sent"];
    await eventually(async () => expect((await listShown(benoitTab, chat)).slice(1)).toEqual(withheld));
    server.block(amina, chat, false);
    await blocks(aminaTab, chat, benoit, false);
    await eventually(async () =>
      expect((await listConversations(aminaTab))[0]).toMatchObject({ last: { body: { text: "let through" } } }),
    );
    await enqueueText(aminaTab, chat, "again");
    await eventually(() => expect(server.log(chat).messages).toHaveLength(4));
    for (const tab of [aminaTab, benoitTab]) await waitUntilDeviceSynced(server, tab, chat);
    expect(await listTexts(aminaTab, chat)).toEqual(["let through", "again"]);
    expect((await readWindowAround(aminaTab, chat, 1)).items.map(({ seq }) => seq)).toEqual([4, 1]);
    await viewAll(aminaTab, chat, 4);
    await eventually(() => expect(server.log(chat).members.get(amina)).toMatchObject({ delivered: 3 }));
    await eventually(async () =>
      expect((await listShown(benoitTab, chat)).slice(0, 3)).toEqual(["let through read", ...withheld]),
    );
    expect((await listConversations(aminaTab))[0]).toMatchObject({ unread: 0 });
  });

  it("a late answer does not undo a newer push of the server", async () => {
    const { server, amina, benoit, chat } = makePair();
    const aminaTab = await makeDevice(server, amina).openTab();
    const { store } = getContext(aminaTab);
    const standing = () => store.people.get(benoit);
    await eventually(async () => expect(await standing()).toMatchObject({ state: "contact" }));
    const known = server.inbox(amina).people.get(benoit)?.relation;
    if (!known) throw new Error("no relation");
    let answer = (_: typeof known) => {};
    const change = runRelationCommand(
      aminaTab,
      benoit,
      () => new Promise((resolve) => (answer = resolve)),
      () => false,
    );
    server.updateContact(amina, { ...known, state: "none", connection_id: null, since: known.since - 1 });
    await eventually(async () => expect(await standing()).toMatchObject({ state: "none" }));
    answer(known);
    await change;
    expect(await standing()).toMatchObject({ state: "none" });
    // Without a push meanwhile the answer counts at once.
    await runRelationCommand(
      aminaTab,
      benoit,
      async () => ({ ...known, blocked: true }),
      () => false,
    );
    expect(await standing()).toMatchObject({ state: "contact", blocked: 1 });
    // The next push counts after it.
    server.block(amina, chat, true);
    server.block(amina, chat, false);
    await eventually(async () => expect(await standing()).toMatchObject({ blocked: 0 }));
  });

  it("of the own name on another device is shown here, and does not make the user their own contact", async () => {
    const { server, amina, benoit } = makePair();
    const aminaTab = await makeDevice(server, amina).openTab();
    const { store } = getContext(aminaTab);
    await eventually(async () => expect(await store.people.get(benoit)).toBeDefined());
    const known = server.inbox(amina).people.get(benoit)?.relation;
    if (!known) throw new Error("no relation");
    const profile = { ...known.profile, id: amina, username: "Amina Nouvelle" };
    server.updateContact(amina, { ...known, profile, state: "none", connection_id: null });
    await eventually(async () => expect((await readOwnProfile(store))?.username).toBe("Amina Nouvelle"));
    expect(await store.people.get(amina)).toBeUndefined();
  });

  it("of the own name remains, though an earlier request is answered after it", async () => {
    const { server, amina, benoit } = makePair();
    const aminaTab = await makeDevice(server, amina).openTab();
    const context = getContext(aminaTab);
    const becomes = (name: string) =>
      eventually(async () => expect((await readOwnProfile(context.store))?.username).toBe(name));
    await becomes("Amina");
    let letGo = (): void => {};
    const late = new Promise<void>((resolve) => {
      letGo = resolve;
    });
    const request = vi.fn(async () => {
      const answer = server.profiles.get(amina);
      await late;
      return answer;
    });
    const asked = fetchOwnProfile({ ...context, platform: { ...context.platform, request } });
    await eventually(() => expect(request).toHaveBeenCalled());
    const known = server.inbox(amina).people.get(benoit)?.relation;
    if (!known) throw new Error("no relation");
    const profile = { ...known.profile, id: amina, username: "Amina Nouvelle" };
    server.updateContact(amina, { ...known, profile, state: "none", connection_id: null });
    await becomes("Amina Nouvelle");
    letGo();
    await asked;
    expect((await readOwnProfile(context.store))?.username).toBe("Amina Nouvelle");
  });

  it("of the own name is stored as answered, though only an earlier change of the picture was pushed meanwhile", async () => {
    const { server, amina, benoit } = makePair();
    const aminaTab = await makeDevice(server, amina).openTab();
    const { store } = getContext(aminaTab);
    await eventually(async () => expect((await readOwnProfile(store))?.username).toBe("Amina"));
    const known = server.inbox(amina).people.get(benoit)?.relation;
    if (!known) throw new Error("no relation");
    const own = { ...known.profile, id: amina, username: "Amina", avatar_url: null };
    const tell = (profile: typeof known.profile) => server.updateContact(amina, { ...known, profile, state: "none" });
    const before = await readOwnProfile(store);
    tell({ ...own, avatar_url: "new.webp" });
    await eventually(async () => expect((await readOwnProfile(store))?.avatar).toBe("new.webp"));
    await mergeFetchedProfile(store, before, { ...own, username: "Amina Nouvelle", avatar_url: "new.webp" });
    expect(await readOwnProfile(store)).toMatchObject({ username: "Amina Nouvelle", avatar: "new.webp" });
  });

  it("is executed on a phone whose store is unreadable or full, and is not reported as failed", async () => {
    const { server, amina, benoit } = makePair();
    const aminaTab = await makeDevice(server, amina).openTab();
    const { store } = getContext(aminaTab);
    await eventually(async () => expect(await store.people.get(benoit)).toMatchObject({ state: "contact" }));
    const known = server.inbox(amina).people.get(benoit)?.relation;
    if (!known) throw new Error("no relation");
    let asked = 0;
    const ask = async () => {
      asked += 1;
      return known;
    };
    vi.spyOn(store.people, "get").mockImplementationOnce(() => Dexie.Promise.reject(new Error("unreadable")) as never);
    await runRelationCommand(aminaTab, benoit, ask, () => false);
    for (const method of ["put", "add"] as const)
      vi.spyOn(IDBObjectStore.prototype, method).mockImplementation(() => {
        throw new DOMException("the phone is full", "QuotaExceededError");
      });
    await runRelationCommand(aminaTab, benoit, ask, () => false);
    vi.restoreAllMocks();
    expect(asked).toBe(2);
  });

  it("the list shows a withheld last message as sent, whatever the receipts say", async () => {
    const { server, amina, benoit, chat } = makePair();
    const aminaTab = await makeDevice(server, amina).openTab();
    const benoitTab = await makeDevice(server, benoit).openTab();
    server.block(amina, chat, true);
    await enqueueText(benoitTab, chat, "withheld");
    await eventually(async () => expect(await listShown(benoitTab, chat)).toEqual(["withheld sent"]));
    server.block(amina, chat, false);
    aminaTab.prioritizeConversation(chat);
    await waitUntilDeviceSynced(server, aminaTab, chat);
    await viewAll(aminaTab, chat, 1);
    server.execute(amina, { type: "mark", conversation: chat, delivered: 1, read: 1 });
    await waitUntilDeviceSynced(server, benoitTab, chat);
    expect((await getContext(benoitTab).store.conversations.get(chat))?.othersRead).toBe(1);
    expect((await listConversations(benoitTab))[0]?.last).toMatchObject({ status: "sent" });
    expect((await listConversations(aminaTab))[0]).toMatchObject({ unread: 0, last: { body: null } });
  });
});
