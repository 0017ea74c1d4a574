import { describe, expect, it, vi } from "vitest";
import { privateMembers } from "#contract/ids.ts";
import { conversationResultsMax } from "#contract/limits/search.ts";
import type { GlobalSearchFilter } from "#contract/wire/global-search.ts";
import type { SyncClient } from "#sync/engine/sync-client.ts";
import { type FoundMessage, searchStoredMessages } from "#sync/queries/search/stored-message-search.ts";
import { TextBlockCache } from "#sync/queries/search/text-blocks.ts";
import type { LocalMessageRow } from "#sync/store/database.ts";
import type { SyncContext } from "#sync/store/sync-context.ts";
import { waitUntilDeviceSynced } from "#tests/support/model/model-checks.ts";
import { makeDevice, makePair } from "#tests/support/model/model-fixtures.ts";

const getContext = (tab: SyncClient): SyncContext => {
  const context = tab.context.get();
  if (!context) throw new Error("no store is open");
  return context;
};

const search = async (
  tab: SyncClient,
  query: string,
  cache = new TextBlockCache(),
  filter?: GlobalSearchFilter,
): Promise<FoundMessage[]> => {
  let found: FoundMessage[] = [];
  const options = { query, filter, cache, first: 2, max: 50 };
  await searchStoredMessages(getContext(tab), options, (results) => (found = results), new AbortController().signal);
  return found;
};
const findSeqs = async (...args: Parameters<typeof search>) => (await search(...args)).map(({ seq }) => seq);

describe("searching the messages on a device", () => {
  it("finds the newest of each chat, with the person they were written to, and none that was deleted or cleared", async () => {
    const { server, amina, benoit, chat } = makePair();
    server.sendTexts(benoit, chat, ...Array.from({ length: 10 }, (_, i) => `Mɔsɔlɔ ${i + 1}`), "rien");
    const tab = await makeDevice(server, amina).openTab();
    await waitUntilDeviceSynced(server, tab, chat);
    const found = await search(tab, "mosol");
    expect(found.map(({ seq }) => seq)).toEqual(Array.from({ length: conversationResultsMax }, (_, i) => 10 - i));
    expect(found[0]).toMatchObject({ conversation: chat, peer: benoit, mine: false, group: null });
    expect(await search(tab, "osolo")).toHaveLength(conversationResultsMax);
    expect(await search(tab, "mosala")).toEqual([]);
    expect(await search(tab, "?")).toEqual([]);
    await tab.context.get()?.store.conversations.update(chat, { hidden: 9 });
    expect(await findSeqs(tab, "mosolo")).toEqual([10]);
  });

  it("finds each message of a long chat, those stored besides the range without gaps too", async () => {
    const { server, amina, benoit, chat } = makePair();
    server.sendTexts(benoit, chat, "un");
    const tab = await makeDevice(server, amina).openTab();
    await waitUntilDeviceSynced(server, tab, chat);
    const { store } = getContext(tab);
    const toRow = (seq: number): LocalMessageRow => ({
      ...{ conversation: chat, seq, sender: 1, mine: 0, at: seq },
      body: { type: "text", text: `ligne n${seq}x` },
    });
    await store.messages.bulkPut([7, ...Array.from({ length: 2_400 }, (_, i) => 601 + i), 3_100].map(toRow));
    await store.conversations.update(chat, { storedFrom: 601, storedTo: 3_000, head: 3_000 });
    const cache = new TextBlockCache();
    for (const seq of [7, 601, 1_000, 1_001, 1_500, 1_501, 2_999, 3_000, 3_100])
      expect(await findSeqs(tab, `n${seq}x`, cache)).toEqual([seq]);
    expect(await findSeqs(tab, "ligne", cache)).toEqual([3_100, 3_000, 2_999, 2_998, 2_997]);
    expect(await findSeqs(tab, "00x", cache)).toEqual([3_100, 3_000, 2_900, 2_800, 2_700]);
    expect(await findSeqs(tab, "y", cache)).toEqual([]);
  });

  it("finds what a chat has now, although its texts were read before", async () => {
    const { server, amina, benoit, chat } = makePair();
    server.sendTexts(benoit, chat, "mosolo un", "mosolo deux", "mosolo trois");
    const tab = await makeDevice(server, amina).openTab();
    await waitUntilDeviceSynced(server, tab, chat);
    const cache = new TextBlockCache();
    expect(await findSeqs(tab, "mosolo", cache)).toEqual([3, 2, 1]);
    server.execute(benoit, { type: "deleteForEveryone", conversation: chat, seq: 2 });
    server.execute(benoit, { type: "editMessage", conversation: chat, target: 3, edit: 0, text: "après" });
    server.sendTexts(benoit, chat, "mosolo quatre");
    await waitUntilDeviceSynced(server, tab, chat);
    expect(await findSeqs(tab, "mosolo", cache)).toEqual([4, 1]);
    expect(await findSeqs(tab, "apres", cache)).toEqual([3]);
    // Deleted on this device alone, which changes nothing else of the chat.
    await getContext(tab).store.messages.delete([chat, 1]);
    expect(await findSeqs(tab, "mosolo", cache)).toEqual([4]);
  });

  it("finds what passes a filter, with and without a text, and again for the next letter", async () => {
    const { server, amina, benoit, chat } = makePair();
    server.sendTexts(benoit, chat, "un");
    const tab = await makeDevice(server, amina).openTab();
    await waitUntilDeviceSynced(server, tab, chat);
    const { store } = getContext(tab);
    const file = { file: "f", mime: "application/pdf", size: 1 };
    const bodies = [
      { type: "text", text: "mosolo ancien" },
      { type: "text", text: "mosolo: https://exemple.cd" },
      { type: "image", ...file, w: 1, h: 1, text: "mosolo" },
      { type: "file", ...file, name: "mosolo.pdf" },
      { type: "voice", ...file, ms: 1, levels: "" },
      { type: "deleted", by: 0 },
      { type: "event", event: "connected" },
    ] as unknown as LocalMessageRow["body"][];
    await store.messages.bulkPut(
      Array.from({ length: 1_400 }, (_, index): LocalMessageRow => {
        const seq = index + 1;
        const body = bodies[seq - 1_001] ?? { type: "text", text: `ligne ${seq}` };
        return { conversation: chat, seq, sender: seq % 2, mine: seq % 2 === 1 ? 1 : 0, at: 10 * seq, body };
      }),
    );
    await store.conversations.update(chat, { storedFrom: 1, storedTo: 1_400, head: 1_400, lastAt: 14_000 });
    const cache = new TextBlockCache();
    const find = (query: string, filter: GlobalSearchFilter) => findSeqs(tab, query, cache, filter);
    const numbers = [amina, benoit].map((user) => privateMembers(chat)?.indexOf(user) ?? -1);
    for (const _ of [1, 2]) {
      expect(await find("", { kind: "image" })).toEqual([1_003]);
      expect(await find("", { kind: "file" })).toEqual([1_004]);
      expect(await find("", { kind: "voice" })).toEqual([1_005]);
      expect(await find("", { kind: "link" })).toEqual([1_002]);
      expect(await find("moso", { kind: "text" })).toEqual([1_002, 1_001]);
      expect(await find("mosol", { kind: "text" })).toEqual([1_002, 1_001]);
      expect(await find("?", { kind: "image" })).toEqual([]);
      expect(await find("", { before: 30 })).toEqual([2, 1]);
      expect(await find("", { after: 13_990 })).toEqual([1_400, 1_399]);
      expect(await find("", { after: 10_030, before: 10_060 })).toEqual([1_005, 1_004, 1_003]);
      for (const [index, from] of [amina, benoit].entries()) {
        const own = [1_004, 1_003, 1_002, 1_001].filter((seq) => seq % 2 === numbers[index]);
        expect(await find("mosolo", { from })).toEqual(own);
      }
    }
    expect(await find("mosolo", { from: server.addPerson("Chantal") })).toEqual([]);
    const reads = vi.spyOn(store, "queryMessages");
    await findSeqs(tab, "", new TextBlockCache(), { after: 10_000 });
    expect(reads.mock.calls.map(([, from]) => from)).not.toContain(1);
  });

  it("stops when it is aborted", async () => {
    const { server, amina, benoit, chat } = makePair();
    server.sendTexts(benoit, chat, "mosolo");
    const tab = await makeDevice(server, amina).openTab();
    await waitUntilDeviceSynced(server, tab, chat);
    const results: FoundMessage[][] = [];
    const options = { query: "mosolo", cache: new TextBlockCache(), first: 10, max: 50 };
    const show = (found: FoundMessage[]) => void results.push(found);
    await searchStoredMessages(getContext(tab), options, show, AbortSignal.abort());
    expect(results).toEqual([]);
  });
});
