import { describe, expect, it, vi } from "vitest";
import { type ConversationId, otherMember } from "#contract/ids.ts";
import { conversationResultsMax } from "#contract/limits/search.ts";
import type { SyncClient } from "#sync/engine/sync-client.ts";
import type { GlobalQuery } from "#sync/queries/conversation-filter.ts";
import { GlobalMessageSearch, type GlobalSearchView } from "#sync/queries/search/global-search.ts";
import { findNewestResults, readNewestResults } from "#sync/queries/search/newest-results.ts";
import { prepareSearch } from "#sync/queries/search/stored-message-search.ts";
import { TextBlockCache } from "#sync/queries/search/text-blocks.ts";
import { eventually } from "#tests/support/model/eventually.ts";
import { waitUntilDeviceSynced } from "#tests/support/model/model-checks.ts";
import type { ModelDevice } from "#tests/support/model/model-device.ts";
import { makeDevice } from "#tests/support/model/model-fixtures.ts";
import { ModelServer } from "#tests/support/model/model-server.ts";

const textsPerChat = 60; // a device fetches the newest 30

/** Amina's chats with others. The first and last text of each are given, the first one is not on her device. */
const makeChats = async (count: number, first = "Été passé", last = "rien") => {
  const server = new ModelServer();
  const amina = server.addPerson("Amina");
  const chats: ConversationId[] = [];
  const phone = makeDevice(server, amina);
  for (let i = 0; i < count; i++) {
    const other = server.addPerson(`Personne ${i}`);
    const chat = server.connect(amina, other);
    server.sendTexts(other, chat, first, ...Array.from({ length: textsPerChat - 2 }, (_, n) => `ligne ${n}`), last);
    chats.unshift(chat); // the newest chat first
    await phone.pass(1_000);
  }
  const tab = await phone.openTab();
  return { server, chats, phone, tab };
};

const startSearch = (tab: SyncClient, query: string | GlobalQuery, cache = new TextBlockCache()) => {
  const views: GlobalSearchView[] = [];
  const wanted = typeof query === "string" ? { query } : query;
  const search = new GlobalMessageSearch(tab, wanted, cache, (view) => void views.push(view));
  void search.start();
  const waitFor = async (state: GlobalSearchView["state"]): Promise<GlobalSearchView> =>
    eventually(() => {
      const view = views.at(-1);
      if (view?.state !== state) throw new Error(`the search is ${view?.state}`);
      return view;
    });
  return { search, views, waitFor };
};

const listSearches = ({ requests }: ModelDevice) =>
  requests.filter(({ path }) => path === "/api/search").map(({ body }) => body as { targets: { before: number }[] });
const toPlaces = (messages: GlobalSearchView["stored"]) =>
  messages.map(({ conversation, seq }) => [conversation, seq] as const);

describe("searching the messages of all chats", () => {
  it("shows those on the device at once, then the older ones of several chats by one request, each once", async () => {
    const { server, chats, phone, tab } = await makeChats(3, "Été passé", "l'été vient");
    for (const chat of chats) await waitUntilDeviceSynced(server, tab, chat);
    const { views, waitFor } = startSearch(tab, " ETE ");
    const { stored, older, isLimited } = await waitFor("complete");
    expect(toPlaces(stored)).toEqual(chats.map((chat) => [chat, textsPerChat]));
    expect(toPlaces(older)).toEqual(chats.map((chat) => [chat, 1]));
    expect(older[0]).toMatchObject({ mine: false, group: null, person: { username: "Personne 2" } });
    expect(isLimited).toBe(false);
    expect(views[0]).toMatchObject({ state: "running", older: [] });
    const [search, ...others] = listSearches(phone);
    expect(others).toEqual([]);
    expect(search).toMatchObject({
      query: "ETE",
      targets: chats.map((conversation) => ({ conversation, before: textsPerChat - 29 })),
    });
  });

  it("asks for no chat that the device has entirely or that has enough results", async () => {
    const { server, chats, phone, tab } = await makeChats(2);
    for (const chat of chats) await waitUntilDeviceSynced(server, tab, chat);
    const { older, isLimited, stored } = await startSearch(tab, "ligne").waitFor("complete");
    expect([older.length, isLimited, stored.length]).toEqual([0, true, 2 * conversationResultsMax]);
    await tab.context.get()?.store.conversations.toCollection().modify({ hidden: 40 });
    expect(await startSearch(tab, "ete").waitFor("complete")).toMatchObject({ stored: [], older: [] });
    expect(listSearches(phone)).toEqual([]);
  });

  it("shows a message once that both have, because the device misses newer ones", async () => {
    const { server, chats, tab } = await makeChats(1, "Été passé", "l'été vient");
    for (const chat of chats) await waitUntilDeviceSynced(server, tab, chat);
    await tab.context
      .get()
      ?.store.conversations.toCollection()
      .modify({ head: textsPerChat + 5 });
    const { stored, older } = await startSearch(tab, "ete").waitFor("complete");
    expect([stored, older].map((found) => found.map(({ seq }) => seq))).toEqual([[textsPerChat], [1]]);
  });

  it("ends with enough results until more are requested, and has all in the end", async () => {
    const { chats, phone, tab } = await makeChats(25);
    await eventually(async () => {
      const rows = (await tab.context.get()?.store.conversations.toArray()) ?? [];
      expect(rows.filter(({ head }) => head === textsPerChat)).toHaveLength(25);
    });
    const { search, waitFor } = startSearch(tab, "ete");
    const counts = [(await waitFor("more")).older.length];
    for (let page = 0; page < 2; page++) {
      void search.showMore();
      counts.push((await waitFor(page === 0 ? "more" : "complete")).older.length);
    }
    expect(counts).toEqual([10, 20, 25]);
    expect(toPlaces((await waitFor("complete")).older)).toEqual(chats.map((chat) => [chat, 1]));
    expect(listSearches(phone)).toHaveLength(3);
  });

  it("without a network says so, and continues by itself when it is back", async () => {
    const { server, chats, phone, tab } = await makeChats(1, "Été passé", "l'été vient");
    for (const chat of chats) await waitUntilDeviceSynced(server, tab, chat);
    phone.faults.isOffline = true;
    for (const socket of phone.sockets) socket.end(1006);
    const { waitFor } = startSearch(tab, "ete");
    const failed = await waitFor("failed");
    expect([failed.error, failed.stored.length, failed.older.length]).toEqual(["offline", 1, 0]);
    phone.faults.isOffline = false;
    phone.wake();
    const found = await waitFor("complete");
    expect([found.error, found.older.length]).toEqual([undefined, 1]);
  });

  it("waits as long as the server says, and asks again for a chat that did not answer", async () => {
    const { server, chats, phone, tab } = await makeChats(2);
    for (const chat of chats) await waitUntilDeviceSynced(server, tab, chat);
    let limited = 2;
    let broken = 1;
    server.refuse = (_, command) => {
      if (command.type !== "search") return undefined;
      if (limited-- > 0) return { error: "rate_limited", retryAfterMs: 1_000 };
      return command.conversation === chats[0] && broken-- > 0 ? { error: "unavailable" } : undefined;
    };
    const { search, waitFor } = startSearch(tab, "ete");
    const failed = await waitFor("failed");
    expect([failed.error, toPlaces(failed.older)]).toEqual(["unavailable", [[chats[1], 1]]]);
    void search.showMore();
    // The newest first, whichever answered first.
    expect(toPlaces((await waitFor("complete")).older)).toEqual(chats.map((chat) => [chat, 1]));
    expect(listSearches(phone)).toHaveLength(4);
  });

  it("does not ask the server for a single letter, nor after the person has typed on", async () => {
    const { server, chats, phone, tab } = await makeChats(1);
    for (const chat of chats) await waitUntilDeviceSynced(server, tab, chat);
    await startSearch(tab, "z").waitFor("more");
    const { search, views } = startSearch(tab, "ete");
    search.stop();
    await phone.pass(10_000);
    expect(views).toEqual([]);
    expect(listSearches(phone)).toEqual([]);
  });

  it("filters on the device and on the server alike, by person also in a group whose members it does not know", async () => {
    const { server, chats, phone, tab } = await makeChats(2, "Été passé", "l'été vient");
    const [chat, otherChat] = chats;
    const amina = tab.context.get()?.me ?? "";
    const benoit = otherMember(chat ?? "", amina) ?? "";
    const group = server.createGroup(amina, "Famille", [benoit]);
    server.sendTexts(amina, group, "l'été à nous");
    server.sendTexts(benoit, group, "l'été à moi");
    for (const id of [...chats, group]) await waitUntilDeviceSynced(server, tab, id);
    const find = async (query: string, filter: GlobalQuery["filter"]) => {
      const { stored, older } = await startSearch(tab, { query, filter }).waitFor("complete");
      return [stored, older].map((found) => found.map(({ conversation, body }) => [conversation, getText(body)]));
    };
    const getText = (body: object) => ("text" in body ? body.text : undefined);
    expect(await find("ete", { from: benoit })).toEqual([
      [[chat, "l'été vient"]],
      [
        [group, "l'été à moi"],
        [chat, "Été passé"],
      ],
    ]);
    expect(listSearches(phone)).toMatchObject([
      {
        query: "ete",
        filter: { from: benoit },
        targets: [{ conversation: group }, { conversation: chat, before: 31 }],
      },
    ]);
    expect(await find("", { from: amina, kind: "text" })).toEqual([[[group, "l'été à nous"]], []]);
    expect(await find("ete", { kind: "image" })).toEqual([[], []]);
    // What is older than the newest messages is too old on the server also.
    phone.requests.length = 0;
    const newest = await tab.context.get()?.store.messages.get([otherChat ?? "", textsPerChat]);
    const [recent] = await find("ete", { after: (newest?.at ?? 0) + 1 });
    expect(recent?.map(([conversation]) => conversation)).toEqual([group, group, chat]);
    expect(listSearches(phone).flatMap(({ targets }) => targets)).toEqual([{ conversation: chat, before: 31 }]);
  });

  it("finds a message on the server that arrives while the device is searched", async () => {
    const { server, chats, tab } = await makeChats(1, "rien", "l'été vient");
    for (const chat of chats) await waitUntilDeviceSynced(server, tab, chat);
    const store = tab.context.get()?.store;
    const row = await store?.conversations.get(chats[0] ?? "");
    const newest = await store?.messages.get([chats[0] ?? "", textsPerChat]);
    if (!store || !row || !newest) throw new Error("nothing is stored");
    await store.messages.delete([newest.conversation, newest.seq]);
    await store.conversations.update(row.id, { storedTo: textsPerChat - 1 });
    const read = store.queryMessages.bind(store);
    vi.spyOn(store, "queryMessages").mockImplementationOnce((...range) => {
      void store.messages.put(newest).then(() => store.conversations.put(row));
      return read(range[0], 1, 0);
    });
    expect((await startSearch(tab, "ete").waitFor("complete")).older.map(({ seq }) => seq)).toEqual([textsPerChat]);
  });

  it("reads the newest few messages of each chat first, before the first letter, and each message once", async () => {
    const { server, chats, tab } = await makeChats(2, "rien", "Été passé");
    for (const chat of chats) await waitUntilDeviceSynced(server, tab, chat);
    const context = tab.context.get();
    if (!context) throw new Error("there is no store");
    const { store } = context;
    const seqs = Array.from({ length: 1_200 }, (_, index) => index + 1);
    const whole = { head: seqs.length, storedFrom: 1, storedTo: seqs.length };
    for (const conversation of chats) {
      const row = { conversation, sender: 0, mine: 0 as const, at: 0 };
      const toText = (seq: number) => (seq === 700 ? "mot rare" : `ligne ${seq}`);
      await store.messages.bulkPut(seqs.map((seq) => ({ ...row, seq, body: { type: "text", text: toText(seq) } })));
      await store.conversations.update(conversation, whole);
    }
    const reads = vi.spyOn(store, "queryMessages");
    const takeRanges = () => reads.mock.calls.splice(0).map(([chat, from, to]) => [chats.indexOf(chat), from, to]);
    const cache = new TextBlockCache();
    await prepareSearch(context, cache, new AbortController().signal);
    const newest = [1_171, Number.MAX_SAFE_INTEGER];
    expect(takeRanges()).toEqual([0, 1].map((chat) => [chat, ...newest]));

    const frequent = startSearch(tab, "ligne", cache);
    await frequent.waitFor("complete");
    expect(toPlaces(frequent.views[0]?.stored ?? []).slice(0, 2)).toEqual([
      [chats[0], 1_200],
      [chats[0], 1_199],
    ]);
    expect(takeRanges()).toEqual([]);

    const { stored } = await startSearch(tab, "rar", cache).waitFor("complete");
    expect(toPlaces(stored)).toEqual(chats.map((chat) => [chat, 700]));
    const older = [0, 1].flatMap((chat) => [
      [chat, 1_001, 1_170],
      [chat, 501, 1_000],
      [chat, 1, 500],
    ]);
    expect(takeRanges().sort()).toEqual(older.sort());
    expect(toPlaces((await startSearch(tab, "rare", cache).waitFor("complete")).stored)).toHaveLength(2);
    expect(takeRanges()).toEqual([]);
  });

  it("finds the newest messages in memory, as they are after an edit and a deletion", async () => {
    const { server, chats, tab } = await makeChats(2, "Été passé", "l'été vient");
    for (const chat of chats) await waitUntilDeviceSynced(server, tab, chat);
    const context = tab.context.get();
    if (!context) throw new Error("there is no store");
    const cache = new TextBlockCache();
    const { views, waitFor } = startSearch(tab, "ligne", cache);
    await waitFor("complete");
    const newest = await readNewestResults(context, cache);
    expect(findNewestResults(newest, "ligne", 8)).toEqual(views[0]?.stored.slice(0, 8));
    expect(toPlaces(findNewestResults(newest, "vien", 8))).toEqual(chats.map((chat) => [chat, textsPerChat]));
    expect(findNewestResults(newest, "passe", 8)).toEqual([]);

    // Both without a change of the conversation, on which the cache depends.
    const [edited, deleted] = await context.store.messages.bulkGet(
      chats.map((chat): [ConversationId, number] => [chat, textsPerChat]),
    );
    if (!edited || !deleted) throw new Error("the messages are not stored");
    await context.store.messages.bulkPut([
      { ...edited, body: { type: "text", text: "il part" } },
      { ...deleted, body: { type: "deleted" } },
    ]);
    const later = await readNewestResults(context, cache);
    expect(findNewestResults(later, "vien", 8)).toEqual([]);
    expect(toPlaces(findNewestResults(later, "part", 8))).toEqual([[chats[0], textsPerChat]]);
    expect(toPlaces((await startSearch(tab, "part", cache).waitFor("complete")).stored)).toEqual([
      [chats[0], textsPerChat],
    ]);
  });
});
