import { describe, expect, it } from "vitest";
import { createUuid } from "#contract/ids.ts";
import { readCallDataUse, saveCallDataUse } from "#sync/actions/call-data-use.ts";
import { clearConversationHistory } from "#sync/commands/conversation-commands.ts";
import { listRecentCalls } from "#sync/queries/call-log.ts";
import { readChat } from "#sync/queries/chat-messages.ts";
import { searchMessages } from "#sync/queries/search/message-search.ts";
import { enqueueText } from "#sync/sending/enqueue.ts";
import { enqueueForward } from "#sync/sending/multicast.ts";
import { eventually } from "#tests/support/model/eventually.ts";
import { getContext, listConversations, listShown, waitUntilDeviceSynced } from "#tests/support/model/model-checks.ts";
import { makeDevice, makePair } from "#tests/support/model/model-fixtures.ts";

const lastIn = async (...[tab]: Parameters<typeof listConversations>) => (await listConversations(tab))[0]?.last;

describe("the entry of a call on a device", () => {
  it("counts as the caller's own on all their devices, has no tick in the list, and completes no outbox row", async () => {
    const { server, amina, benoit, chat } = makePair();
    const phone = makeDevice(server, amina);
    const aminaTab = await phone.openTab();
    const laptop = await makeDevice(server, amina).openTab();
    const benoitTab = await makeDevice(server, benoit).openTab();
    for (const tab of [aminaTab, laptop, benoitTab]) await waitUntilDeviceSynced(server, tab, chat);
    phone.faults.isOffline = true;
    await enqueueText(aminaTab, chat, "I call you");
    server.addCallEntry(amina, chat, { kind: "audio", status: "ended", seconds: 65 });
    await waitUntilDeviceSynced(server, benoitTab, chat);
    await waitUntilDeviceSynced(server, laptop, chat);
    expect(await lastIn(laptop)).toMatchObject({ mine: true, body: { type: "call", seconds: 65 } });
    expect(await lastIn(laptop)).not.toHaveProperty("status");
    expect(await lastIn(benoitTab)).toMatchObject({ mine: false, body: { type: "call" } });
    phone.faults.isOffline = false;
    phone.wake();
    await waitUntilDeviceSynced(server, aminaTab, chat);
    expect((await listShown(aminaTab, chat)).map((line) => line.split(" ")[0])).toEqual(["call", "I"]);
  });

  it("is unread for the callee who missed it, and for nobody else", async () => {
    const { server, amina, benoit, chat } = makePair();
    const benoitTab = await makeDevice(server, benoit).openTab();
    const aminaTab = await makeDevice(server, amina).openTab();
    await waitUntilDeviceSynced(server, benoitTab, chat);
    for (const status of ["missed", "rejected", "cancelled", "ended", "missed"] as const)
      server.addCallEntry(amina, chat, { kind: "video", status, seconds: 0 });
    for (const tab of [benoitTab, aminaTab]) await waitUntilDeviceSynced(server, tab, chat);
    expect((await listConversations(benoitTab))[0]?.unread).toBe(2);
    expect((await listConversations(aminaTab))[0]?.unread).toBe(0);
  });

  it("is among the recent calls of all chats, until its history is cleared", async () => {
    const { server, amina, benoit, chat } = makePair();
    const other = server.connect(amina, server.addPerson("Chantal"));
    const tab = await makeDevice(server, amina).openTab();
    server.addCallEntry(benoit, chat, { kind: "audio", status: "missed", seconds: 0 });
    await waitUntilDeviceSynced(server, tab, chat);
    server.addCallEntry(amina, other, { kind: "video", status: "ended", seconds: 65 });
    await waitUntilDeviceSynced(server, tab, other);
    const list = async () =>
      (await listRecentCalls(getContext(tab).store, 10))
        .map(({ conversation, mine, body }) => [conversation === chat ? "Benoît" : "Chantal", mine, body.status])
        .sort(); // the server's clock may give both the same time
    const ended = ["Chantal", true, "ended"];
    expect(await list()).toEqual([["Benoît", false, "missed"], ended]);
    await clearConversationHistory(tab, chat, false);
    await waitUntilDeviceSynced(server, tab, chat);
    expect(await list()).toEqual([ended]);
    server.addCallEntry(benoit, chat, { kind: "audio", status: "cancelled", seconds: 0 });
    await waitUntilDeviceSynced(server, tab, chat);
    expect(await list()).toEqual([["Benoît", false, "cancelled"], ended]);
  });

  it("cannot be forwarded, and a search does not find it", async () => {
    const { server, amina, benoit, chat } = makePair();
    const other = server.connect(amina, server.addPerson("Chantal"));
    const tab = await makeDevice(server, amina).openTab();
    server.addCallEntry(benoit, chat, { kind: "audio", status: "missed", seconds: 0 });
    await waitUntilDeviceSynced(server, tab, chat);
    const [item] = (await readChat(getContext(tab), chat, 10)).items;
    if (!item) throw new Error("the line is not here");
    await expect(enqueueForward(tab, chat, item, [other])).rejects.toThrow("original_gone");
    let found: unknown;
    expect(await searchMessages(tab, chat, { query: "call" }, (messages) => (found = messages))).toEqual({
      isComplete: true,
      hasOlder: false,
    });
    expect(found).toEqual([]);
  });
});

describe("the data usage of calls on this phone", () => {
  it("is stored per call, with the highest reported value, for the last two hundred calls only", async () => {
    const { server, amina } = makePair();
    const tab = await makeDevice(server, amina).openTab();
    await eventually(() => expect(tab.context.get()).toBeDefined());
    const { store } = getContext(tab);
    const ids = Array.from({ length: 201 }, () => createUuid());
    for (const [index, id] of ids.entries()) await saveCallDataUse(store, id, index + 1);
    await saveCallDataUse(store, ids[1] ?? "", 1_002);
    await saveCallDataUse(store, ids[1] ?? "", 1_000);
    const uses = await readCallDataUse(store);
    expect(Object.keys(uses)).toHaveLength(200);
    expect(uses[ids[0] ?? ""]).toBeUndefined();
    expect(uses[ids[1] ?? ""]).toBe(1_002);
    await saveCallDataUse(store, createUuid(), 5);
    const later = await readCallDataUse(store);
    expect([later[ids[1] ?? ""], later[ids[2] ?? ""]]).toEqual([1_002, undefined]);
  });
});
