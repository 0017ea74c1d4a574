import { describe, expect, it } from "vitest";
import {
  resultsPerConversationMax,
  type StoredResult,
  searchStoredMessages,
} from "#sync/queries/stored-message-search.ts";
import type { SyncContext } from "#sync/store/sync-context.ts";
import type { Tab } from "#sync/tabs/tab.ts";
import { waitUntilDeviceSynced } from "#tests/support/model/model-checks.ts";
import { makeDevice, makePair } from "#tests/support/model/model-fixtures.ts";

const getContext = (tab: Tab): SyncContext => {
  const context = tab.context.get();
  if (!context) throw new Error("no store is open");
  return context;
};

const search = async (tab: Tab, query: string): Promise<StoredResult[]> => {
  let found: StoredResult[] = [];
  await searchStoredMessages(getContext(tab), query, (results) => (found = results), new AbortController().signal);
  return found;
};

describe("searching the messages on a device", () => {
  it("finds the newest of each chat, with the person they were written to, and none that was deleted or cleared", async () => {
    const { server, amina, benoit, chat } = makePair();
    server.sendTexts(benoit, chat, ...Array.from({ length: 10 }, (_, i) => `Mɔsɔlɔ ${i + 1}`), "rien");
    const tab = await makeDevice(server, amina).openTab();
    await waitUntilDeviceSynced(server, tab, chat);
    const found = await search(tab, "mosol");
    expect(found.map(({ seq }) => seq)).toEqual(Array.from({ length: resultsPerConversationMax }, (_, i) => 10 - i));
    expect(found[0]).toMatchObject({ conversation: chat, peer: benoit, mine: false, group: null });
    expect(await search(tab, "osolo")).toEqual([]);
    expect(await search(tab, "?")).toEqual([]);
    await tab.context.get()?.store.conversations.update(chat, { hidden: 9 });
    expect((await search(tab, "mosolo")).map(({ seq }) => seq)).toEqual([10]);
  });

  it("stops when it is aborted", async () => {
    const { server, amina, benoit, chat } = makePair();
    server.sendTexts(benoit, chat, "mosolo");
    const tab = await makeDevice(server, amina).openTab();
    await waitUntilDeviceSynced(server, tab, chat);
    const results: StoredResult[][] = [];
    await searchStoredMessages(getContext(tab), "mosolo", (found) => void results.push(found), AbortSignal.abort());
    expect(results).toEqual([]);
  });
});
