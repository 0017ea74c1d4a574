import Dexie from "dexie";
import { IDBDatabase, IDBFactory } from "fake-indexeddb";
import { describe, expect, it, vi } from "vitest";
import { type ChatSnapshot, readChat } from "#sync/queries/chat-messages.ts";
import { readConversation } from "#sync/queries/conversation.ts";
import { readConversations } from "#sync/queries/conversation-list.ts";
import {
  LiveQueries,
  type LiveQuery,
  type QueryContext,
  type StoreQuery,
  shareStructure,
} from "#sync/queries/live-queries.ts";
import { readContactRequests, readContacts } from "#sync/queries/people.ts";
import { enqueueText } from "#sync/sending/enqueue.ts";
import { readOwnProfile } from "#sync/store/own-profile-row.ts";
import { readSyncCursor, writeSyncCursor } from "#sync/store/sync-cursor.ts";
import { changeDraft, findDraft } from "#sync/unsent/drafts.ts";
import { eventually } from "#tests/support/model/eventually.ts";
import { getContext, waitUntilDeviceSynced } from "#tests/support/model/model-checks.ts";
import { makeDevice, makePair } from "#tests/support/model/model-fixtures.ts";
import { ModelServer } from "#tests/support/model/model-server.ts";

// Live queries do nothing without IndexedDB; which one is used is decided by each store.
Dexie.dependencies.indexedDB = new IDBFactory();

/** Subscribes to a live query as a screen does, and records its results. */
const look = <T>(live: LiveQuery<T>): { shown: T[]; away(): void } => {
  const shown: T[] = [];
  const away = live.subscribe(() => {
    const value = live.get();
    if (value !== undefined) shown.push(value);
  });
  return { shown, away };
};

describe("results of live queries", () => {
  it("an unchanged result is the same object, in its parts too", () => {
    const before = [
      { key: "a", body: { text: "1" } },
      { key: "b", body: { text: "2" } },
    ];
    expect(shareStructure(before, structuredClone(before))).toBe(before);
    const longer = shareStructure(before, [{ key: "new", body: { text: "0" } }, ...structuredClone(before)]);
    expect(longer.slice(1).map((part, index) => part === before[index])).toEqual([true, true]);
    const changed = shareStructure(before, [structuredClone(before[0]), { key: "b", body: { text: "3" } }]);
    expect(changed[0]).toBe(before[0]);
    expect(changed[1]).toEqual({ key: "b", body: { text: "3" } });
    expect(shareStructure({ a: 1, b: 2 }, { a: 1 })).toEqual({ a: 1 });
    expect(shareStructure(undefined, [])).toEqual([]);
  });

  it("a chat shows a new message without touching the others, and never a message twice while it is being sent", async () => {
    const { server, amina, benoit, chat } = makePair();
    const tab = await makeDevice(server, amina).openTab();
    server.sendTexts(benoit, chat, "1", "2");
    await waitUntilDeviceSynced(server, tab, chat);
    const queries = new LiveQueries(getContext(tab));
    const { shown, away } = look(queries.openQuery("chat", (context) => readChat(context, chat, 40)));
    await eventually(() => expect(shown.at(-1)?.items).toHaveLength(2));
    const before = shown.at(-1)?.items ?? [];
    await enqueueText(tab, chat, "mine");
    await waitUntilDeviceSynced(server, tab, chat);
    await eventually(() => expect(shown.at(-1)?.items[0]).toMatchObject({ status: "sent", seq: 3 }));
    expect(
      shown
        .at(-1)
        ?.items.slice(1)
        .every((item, index) => item === before[index]),
    ).toBe(true);
    const counts = shown.map(
      ({ items }) => items.filter(({ body }) => body.type === "text" && body.text === "mine").length,
    );
    expect(counts.every((count, index) => count <= 1 && count >= (counts[index - 1] ?? 0))).toBe(true);
    const keys = new Set(shown.flatMap(({ items }) => items.filter(({ mine }) => mine).map(({ key }) => key)));
    expect(keys.size).toBe(1);
    away();
  });

  it("a window contains no more than requested, however long the history", async () => {
    const { server, amina, benoit, chat } = makePair();
    const tab = await makeDevice(server, amina).openTab();
    await eventually(() => expect(tab.link.get()).toBe("online"));
    server.sendTexts(benoit, chat, ...Array.from({ length: 130 }, (_, i) => `m${i}`));
    await waitUntilDeviceSynced(server, tab, chat);
    expect(await readChat(getContext(tab), chat, 40)).toMatchObject({
      hasMoreLocally: true,
      hasMoreOnServer: false,
    });
    expect((await readChat(getContext(tab), chat, 40)).items).toHaveLength(40);
  });

  it("two screens with the same query share one read, and returning soon shows the result at once", async () => {
    const { server, amina, chat } = makePair();
    const tab = await makeDevice(server, amina).openTab();
    await waitUntilDeviceSynced(server, tab, chat);
    let reads = 0;
    const queries = new LiveQueries(getContext(tab));
    const ask = () =>
      queries.openQuery("list", (context) => {
        reads++;
        return readConversations(context, 10);
      });
    const first = look(ask());
    const second = look(ask());
    await eventually(() => expect(first.shown).toHaveLength(1));
    expect(second.shown).toEqual(first.shown);
    const readsOfBoth = reads;
    first.away();
    second.away();
    expect(ask().get()).toBe(first.shown[0]);
    expect(reads).toBe(readsOfBoth);
  });

  it("a query that read unsent data runs again when that changes, and no other one does", async () => {
    const { server, amina, chat } = makePair();
    const tab = await makeDevice(server, amina).openTab();
    await waitUntilDeviceSynced(server, tab, chat);
    const queries = new LiveQueries(getContext(tab));
    let others = 0;
    const draft = look(queries.openQuery("draft", async ({ unsent }) => findDraft(unsent, chat).text));
    const other = look(queries.openQuery("other", async ({ store }) => (await store.messages.count()) + others++));
    await eventually(() => expect([draft.shown, other.shown]).toEqual([[""], [0]]));
    await changeDraft(tab.unsent, chat, (row) => ({ ...row, text: "Mbote", at: 1 }));
    await eventually(() => expect(draft.shown).toEqual(["", "Mbote"]));
    expect(others).toBe(1);
    draft.away();
    other.away();
  });

  it("preloaded queries are read in one transaction, follow changes together, and then by themselves", async () => {
    const { server, amina, benoit, chat } = makePair();
    const opened = vi.spyOn(IDBDatabase.prototype, "transaction"); // Dexie binds it when it opens the database
    const phone = makeDevice(server, amina);
    const tab = await phone.openTab();
    server.sendTexts(benoit, chat, "1");
    await waitUntilDeviceSynced(server, tab, chat);
    await phone.pass(5_000); // nothing else is read any more
    const queries = new LiveQueries(getContext(tab));
    opened.mockClear();
    const chatQuery: StoreQuery<ChatSnapshot> = ["chat", (context) => readChat(context, chat, 40)];
    const personQuery: StoreQuery<unknown> = ["person", ({ store }) => store.people.get(benoit)];
    const listQuery: StoreQuery<unknown> = ["list", (context) => readConversations(context, 10)];
    let end = () => {};
    const isOver = new Promise<void>((resolve) => {
      end = resolve;
    });
    await queries.preload([chatQuery, personQuery, listQuery], () => isOver);
    const reads = opened.mock.calls.filter(([stores, mode]) => mode === "readonly" && [...stores].includes("messages"));
    expect(reads).toHaveLength(1);
    opened.mockRestore();
    const open = <T>([key, query]: StoreQuery<T>) => queries.openQuery(key ?? "", query);
    expect(open(chatQuery).get()?.items).toHaveLength(1);
    expect([open(personQuery).get(), open(listQuery).get()]).toMatchObject([{ id: benoit }, [{ id: chat }]]);
    const { shown, away } = look(open(chatQuery));
    server.sendTexts(benoit, chat, "2");
    await eventually(() => expect(shown.at(-1)?.items).toHaveLength(2));
    end();
    server.sendTexts(benoit, chat, "3");
    await eventually(() => expect(shown.at(-1)?.items).toHaveLength(3));
    expect(open(listQuery).get()).toBeUndefined(); // nobody subscribed, so it has ended
    away();
  });

  it("queries whose common read fails are read one by one", async () => {
    const { server, amina, benoit, chat } = makePair();
    const tab = await makeDevice(server, amina).openTab();
    server.sendTexts(benoit, chat, "1");
    await waitUntilDeviceSynced(server, tab, chat);
    const queries = new LiveQueries(getContext(tab));
    const list = (context: QueryContext) => readConversations(context, 10);
    const { shown, away } = look(queries.openQuery("list", list));
    await queries.preload(
      [
        ["list", list],
        ["broken", () => Promise.reject(new Error("unreadable"))],
      ],
      async () => {},
    );
    await eventually(() => expect(shown.at(-1)).toMatchObject([{ id: chat }]));
    away();
  });

  it("a failed read is repeated, though nothing changes meanwhile", async () => {
    const { server, amina, chat } = makePair();
    const tab = await makeDevice(server, amina).openTab();
    await waitUntilDeviceSynced(server, tab, chat);
    let reads = 0;
    const queries = new LiveQueries(getContext(tab));
    const { shown, away } = look(
      queries.openQuery("list", (context) => {
        reads++;
        if (reads <= 2) return Promise.reject(new Dexie.PrematureCommitError("the read took too long"));
        return readConversations(context, 10);
      }),
    );
    await eventually(() => expect(shown).toHaveLength(1));
    expect(reads).toBe(3);
    away();
  });

  it("a query that does not linger is not read any more once unsubscribed", async () => {
    const { server, amina, benoit, chat } = makePair();
    const tab = await makeDevice(server, amina).openTab();
    await waitUntilDeviceSynced(server, tab, chat);
    const context = getContext(tab);
    const ends: (() => void)[] = [];
    // The time in which a subscriber may return does not end before the test says so.
    const after = (ms: number, run: () => void) => {
      if (ms === 0) return context.platform.startTimer(ms, run);
      ends.push(run);
      return () => {};
    };
    const queries = new LiveQueries({ ...context, platform: { ...context.platform, startTimer: after } });
    const reads = { lingering: 0, passing: 0 };
    const ask = (kind: keyof typeof reads) =>
      queries.openQuery(
        kind,
        (context) => {
          reads[kind]++;
          return readChat(context, chat, 40);
        },
        kind === "lingering",
      );
    const subscribers = (["lingering", "passing"] as const).map((kind) => look(ask(kind)));
    await eventually(() => expect(subscribers.every(({ shown }) => shown.length > 0)).toBe(true));
    for (const { away } of subscribers) away();
    await new Promise<void>((resolve) => context.platform.startTimer(0, resolve)); // after the previous one has ended
    const before = { ...reads };
    const tell = async (text: string) => {
      server.sendTexts(benoit, chat, text);
      await waitUntilDeviceSynced(server, tab, chat);
    };
    await tell("news");
    await eventually(() => expect(reads.lingering).toBeGreaterThan(before.lingering));
    expect(reads.passing).toBe(before.passing);
    for (const end of ends) end();
    const { lingering } = reads;
    await tell("more");
    expect(reads).toEqual({ lingering, passing: before.passing });
  });

  it("a chat with a contact can be written to before the server has sent it, one with a stranger cannot", async () => {
    const { server, amina, benoit, chat } = makePair();
    const stranger = server.addPerson("Stranger");
    const phone = makeDevice(server, amina);
    const tab = await phone.openTab();
    await waitUntilDeviceSynced(server, tab, chat);
    const { store, me } = getContext(tab);
    await store.conversations.clear();
    const contact = { open: true, isStored: false, isConfirmed: true, peer: benoit };
    expect(await readConversation(getContext(tab), chat)).toMatchObject(contact);
    const unknown = [me, stranger].sort().join(".");
    const nobody = { open: false, isStored: false, isConfirmed: true, person: undefined };
    expect(await readConversation(getContext(tab), unknown)).toMatchObject(nobody);
    server.closeConversation(chat);
    await eventually(async () =>
      expect(await readConversation(getContext(tab), chat)).toMatchObject({ open: false, isStored: true }),
    );
  });

  it("nobody is shown as a stranger before all changes of the server are applied", async () => {
    const { server, amina, chat } = makePair();
    const phone = makeDevice(server, amina);
    const tab = await phone.openTab();
    await waitUntilDeviceSynced(server, tab, chat);
    const context = getContext(tab);
    const { store } = context;
    await phone.close(tab);
    await store.open();
    await Promise.all([store.conversations.clear(), store.people.clear()]);
    const cursor = await readSyncCursor(store);
    await writeSyncCursor(store, { ...cursor, gaps: [{ since: 0, before: 4 }] });
    expect(await readConversation(context, chat)).toMatchObject({ open: false, isConfirmed: false });
    await writeSyncCursor(store, { ...cursor, epoch: "" });
    expect(await readConversation(context, chat)).toMatchObject({ open: false, isConfirmed: false });
    store.close();
  });

  it("the own profile is fetched once the server is reached, and kept while offline", async () => {
    const { server, amina } = makePair();
    const phone = makeDevice(server, amina);
    const tab = await phone.openTab();
    await eventually(async () =>
      expect(await readOwnProfile(getContext(tab).store)).toMatchObject({ username: "Amina" }),
    );
    await phone.close(tab);
    phone.faults.isOffline = true;
    const next = await phone.openTab();
    expect(await readOwnProfile(getContext(next).store)).toMatchObject({ id: amina, username: "Amina" });
  });

  it("a change of the own name that is pushed while the profile is loading is not undone by it", async () => {
    const { server, amina, benoit } = makePair();
    const phone = makeDevice(server, amina);
    phone.answerMs = 30_000;
    const tab = await phone.openTab();
    const { store } = getContext(tab);
    await eventually(() => expect(phone.requests.map(({ path }) => path)).toContain(`/api/users/${amina}`));
    await eventually(async () => expect(await store.people.get(benoit)).toBeDefined());
    const [profile, known] = [server.profiles.get(amina), server.inbox(amina).people.get(benoit)?.relation];
    if (!profile || !known) throw new Error("nobody");
    const renamed = { ...profile, username: "Amina Nouvelle" };
    server.updateContact(amina, { ...known, profile: renamed, state: "none", connection_id: null });
    await eventually(async () => expect((await readOwnProfile(store))?.username).toBe("Amina Nouvelle"));
    await phone.pass(40_000);
    expect((await readOwnProfile(store))?.username).toBe("Amina Nouvelle");
  });

  it("a change of somebody's name reaches every row that shows it", async () => {
    const { server, amina, benoit, chat } = makePair();
    const tab = await makeDevice(server, amina).openTab();
    server.sendTexts(benoit, chat, "1");
    await waitUntilDeviceSynced(server, tab, chat);
    const queries = new LiveQueries(getContext(tab));
    const { shown, away } = look(queries.openQuery("list", (context) => readConversations(context, 10)));
    const profile = { id: benoit, username: "Ben", phone: "+243810000000", avatar_url: null, created_at: 1 };
    server.updateContact(amina, {
      profile,
      state: "contact",
      request_id: null,
      connection_id: null,
      since: 2,
      blocked: false,
    });
    await eventually(() => expect(shown.at(-1)?.[0]?.person?.username).toBe("Ben"));
    away();
  });

  it("reports an empty result only once the server has sent everything", async () => {
    const server = new ModelServer();
    const phone = makeDevice(server, server.addPerson("Amina"));
    phone.faults.isOffline = true;
    const tab = await phone.openTab();
    const { store } = getContext(tab);
    const lists = () =>
      Promise.all([readConversations(getContext(tab), 10), readContacts(store), readContactRequests(store)]);
    const unknown = [undefined, undefined, undefined];
    expect(await lists()).toEqual(unknown);
    // Welcomed, with changes that are still to be requested.
    const welcomed = { epoch: "one", counter: 9, skew: 0, gaps: [{ since: 0, before: 5 }] };
    await writeSyncCursor(store, welcomed);
    expect(await lists()).toEqual(unknown);
    await writeSyncCursor(store, { ...welcomed, gaps: [] });
    expect(await lists()).toEqual([[], [], { received: [], sent: [], invitations: 0 }]);
  });
});
