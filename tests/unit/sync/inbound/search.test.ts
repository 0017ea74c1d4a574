import { describe, expect, it } from "vitest";
import type { SearchFilter } from "#contract/wire/search-filter.ts";
import { searchMessages } from "#sync/queries/search/message-search.ts";
import { messageFlags } from "#sync/unsent/operations.ts";
import { waitUntilDeviceSynced } from "#tests/support/model/model-checks.ts";
import { makeDevice, makePair } from "#tests/support/model/model-fixtures.ts";

describe("searching", () => {
  it("finds stored messages at once and the rest of the history on the server, newest first and each once", async () => {
    const { server, amina, benoit, chat } = makePair();
    for (let i = 1; i <= 300; i++) server.sendTexts(benoit, chat, i % 5 === 0 ? `Été ${i}` : `hiver ${i}`);
    const tab = await makeDevice(server, amina).openTab();
    await waitUntilDeviceSynced(server, tab, chat);
    const steps: number[] = [];
    let found: number[] = [];
    const outcome = await searchMessages(tab, chat, { query: "ete" }, (messages) => {
      steps.push(messages.length);
      found = messages.map(({ seq }) => seq);
    });
    expect(outcome).toEqual({ isComplete: true, hasOlder: true });
    expect(steps[0]).toBe(6);
    expect(found).toEqual(Array.from({ length: 60 }, (_, i) => 300 - i * 5));
  });

  it("shows the newest stored messages at once, and asks the server only when typing pauses", async () => {
    const { server, amina, benoit, chat } = makePair();
    for (let i = 1; i <= 300; i++) server.sendTexts(benoit, chat, `Été ${i}`);
    const tab = await makeDevice(server, amina).openTab();
    await waitUntilDeviceSynced(server, tab, chat);
    let requests = 0;
    server.refuse = (_, command) => {
      if (command.type === "search") requests++;
      return undefined;
    };
    const typing = new AbortController();
    const counts: number[] = [];
    const show = ({ length }: unknown[]) => {
      counts.push(length);
      typing.abort(); // the next key
    };
    const outcome = searchMessages(tab, chat, { query: "et" }, show, typing.signal);
    expect(await outcome).toEqual({ isComplete: false, hasOlder: false });
    expect([counts, requests]).toEqual([[10], 0]);
    await searchMessages(tab, chat, { query: "ete" }, (messages) => counts.push(messages.length));
    expect(requests).toBeGreaterThan(0);
    expect(counts.at(-1)).toBe(300);
  });

  it("finds any part of a word among the stored messages, and beginnings of words among older ones", async () => {
    const { server, amina, benoit, chat } = makePair();
    server.sendTexts(benoit, chat, "kala nasali", "sali kala", "kala (oui)");
    for (let i = 4; i <= 100; i++) server.sendTexts(benoit, chat, i % 50 === 0 ? "nasali (malamu)" : `ligne ${i}`);
    const tab = await makeDevice(server, amina).openTab();
    await waitUntilDeviceSynced(server, tab, chat);
    const find = async (query: string) => {
      let seqs: number[] = [];
      const end = await searchMessages(tab, chat, { query }, (messages) => {
        seqs = messages.map(({ seq }) => seq);
      });
      return { ...end, seqs };
    };
    const { storedFrom = 0 } = (await tab.context.get()?.store.conversations.get(chat)) ?? {};
    expect(storedFrom).toBeGreaterThan(50);
    expect(await find("sali")).toEqual({ isComplete: true, hasOlder: true, seqs: [100, 2] });
    expect(await find("(mal")).toEqual({ isComplete: true, hasOlder: true, seqs: [100, 50] });
    expect(await find("(")).toEqual({ isComplete: true, hasOlder: true, seqs: [100] });
    await tab.context.get()?.store.conversations.update(chat, { hidden: storedFrom - 1 });
    expect(await find("sali")).toEqual({ isComplete: true, hasOlder: false, seqs: [100] });
  });

  it("finds what passes a filter on the device and on the server, also without a text", async () => {
    const { server, amina, benoit, chat } = makePair();
    for (let i = 1; i <= 100; i++) server.sendTexts(benoit, chat, i % 10 === 0 ? `www.exemple.cd/${i}` : `rien ${i}`);
    const tab = await makeDevice(server, amina).openTab();
    await waitUntilDeviceSynced(server, tab, chat);
    const find = async (query: string, filter: SearchFilter) => {
      let seqs: number[] = [];
      const { isComplete } = await searchMessages(tab, chat, { query, filter }, (messages) => {
        seqs = messages.map(({ seq }) => seq);
      });
      return [isComplete, seqs];
    };
    const links = Array.from({ length: 10 }, (_, i) => 100 - i * 10);
    expect(await find("", { kind: "link" })).toEqual([true, links]);
    expect(await find("exemple 20", { kind: "link" })).toEqual([true, [20]]);
    expect(await find("", { kind: "image" })).toEqual([true, []]);
    expect(await find("", { from: 9 })).toEqual([true, []]);
    expect(await find("?!", { kind: "link" })).toEqual([true, []]);
  });

  it("does not find a message that was deleted for oneself before the server knows it", async () => {
    const { server, amina, benoit, chat } = makePair();
    server.sendTexts(benoit, chat, "secret un", "secret deux");
    const tab = await makeDevice(server, amina).openTab();
    await waitUntilDeviceSynced(server, tab, chat);
    await tab.unsent.changeAll([messageFlags.put({ conversation: chat, seq: 1, epoch: "", deleted: true }, 1)]);
    let seqs: number[] = [];
    await searchMessages(tab, chat, { query: "secret" }, (messages) => {
      seqs = messages.map(({ seq }) => seq);
    });
    expect(seqs).toEqual([2]);
  });

  it("waits as long as the server says after too many requests, and searches all of the history", async () => {
    const { server, amina, benoit, chat } = makePair();
    for (let i = 1; i <= 300; i++) server.sendTexts(benoit, chat, i % 100 === 0 ? `Été ${i}` : `hiver ${i}`);
    const tab = await makeDevice(server, amina).openTab();
    await waitUntilDeviceSynced(server, tab, chat);
    let refusals = 0;
    server.refuse = (_, command) =>
      command.type === "search" && refusals++ < 3 ? { error: "rate_limited", retryAfterMs: 1_000 } : undefined;
    let found: number[] = [];
    const outcome = await searchMessages(tab, chat, { query: "ete" }, (messages) => {
      found = messages.map(({ seq }) => seq);
    });
    expect(outcome).toEqual({ isComplete: true, hasOlder: true });
    expect(found).toEqual([300, 200, 100]);
    expect(refusals).toBeGreaterThan(3);
  });

  it("without a network finds stored messages and says that these are not all", async () => {
    const { server, amina, benoit, chat } = makePair();
    server.sendTexts(benoit, chat, ...Array.from({ length: 100 }, (_, i) => `m${i + 1}`));
    const phone = makeDevice(server, amina);
    const tab = await phone.openTab();
    await waitUntilDeviceSynced(server, tab, chat);
    phone.faults.isOffline = true;
    server.inbox(amina).sockets.forEach((socket) => {
      socket.end(1006);
    });
    let count = 0;
    const outcome = await searchMessages(tab, chat, { query: "m9" }, (messages) => {
      count = messages.length;
    });
    expect(outcome).toEqual({ isComplete: false, hasOlder: true });
    expect(count).toBe(10);
  });
});
