import { describe, expect, it } from "vitest";
import { privateConversationId } from "#contract/ids.ts";
import { isRefusal } from "#contract/wire/commands.ts";
import { clearConversationHistory } from "#sync/commands/conversation-commands.ts";
import { applyInTransaction } from "#sync/inbound/apply/apply-server-changes.ts";
import { ReadTracker } from "#sync/inbound/read-tracker.ts";
import { applyReceiptResult } from "#sync/inbound/receipt-reporter.ts";
import { readChat } from "#sync/queries/chat-messages.ts";
import { fetchOlderMessages } from "#sync/queries/message-window.ts";
import { enqueueText } from "#sync/sending/enqueue.ts";
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

const numbered = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, i) => `m${from + i}`);
const pagesAsked = (server: ModelServer) => server.executedCommands.filter(({ command }) => command.type === "page");

describe("catching up", () => {
  it("messages that arrived while the device was offline are there when it returns, with the right unread count", async () => {
    const { server, amina, benoit, chat } = makePair();
    const phone = makeDevice(server, amina);
    const first = await phone.openTab();
    server.sendTexts(benoit, chat, ...numbered(1, 5));
    await waitUntilDeviceSynced(server, first, chat);
    await phone.close(first);
    server.sendTexts(benoit, chat, ...numbered(6, 120));
    const second = await phone.openTab();
    await waitUntilDeviceSynced(server, second, chat);
    expect(await listTexts(second, chat)).toEqual(numbered(1, 120));
    expect((await listConversations(second))[0]).toMatchObject({ unread: 120 });
  });

  it("one missed message that its row contains completely costs no request", async () => {
    const { server, amina, benoit, chat } = makePair();
    const phone = makeDevice(server, amina);
    const first = await phone.openTab();
    server.sendTexts(benoit, chat, "a");
    await waitUntilDeviceSynced(server, first, chat);
    await phone.close(first);
    server.sendTexts(benoit, chat, "b");
    const second = await phone.openTab();
    await waitUntilDeviceSynced(server, second, chat);
    expect(await listTexts(second, chat)).toEqual(["a", "b"]);
    expect(pagesAsked(server)).toEqual([]);
  });

  it("a gap of more than a page loads the newest page only; older messages are loaded by scrolling", async () => {
    const { server, amina, benoit, chat } = makePair();
    const phone = makeDevice(server, amina);
    const first = await phone.openTab();
    server.sendTexts(benoit, chat, ...numbered(1, 3));
    await waitUntilDeviceSynced(server, first, chat);
    await phone.close(first);
    server.sendTexts(benoit, chat, ...numbered(4, 700));
    const tab = await phone.openTab();
    await waitUntilDeviceSynced(server, tab, chat);
    expect(await listTexts(tab, chat)).toEqual(numbered(661, 700));
    for (let i = 0; i < 3; i++) await fetchOlderMessages(tab, chat);
    expect(await listTexts(tab, chat)).toEqual(numbered(541, 700));
    await waitUntilDeviceSynced(server, tab, chat);
  });

  it("scrolling back ends at the first message", async () => {
    const { server, amina, benoit, chat } = makePair();
    server.sendTexts(benoit, chat, ...numbered(1, 95));
    const tab = await makeDevice(server, amina).openTab();
    await waitUntilDeviceSynced(server, tab, chat);
    for (let i = 0; i < 10 && (await readChat(getContext(tab), chat, 1_000)).hasMoreOnServer; i++)
      await fetchOlderMessages(tab, chat);
    expect(await listTexts(tab, chat)).toEqual(numbered(1, 95));
    expect((await readChat(getContext(tab), chat, 1_000)).hasMoreOnServer).toBe(false);
    expect(await readChat(getContext(tab), chat, 40)).toMatchObject({ hasMoreLocally: true });
    expect((await readChat(getContext(tab), chat, 40)).items).toHaveLength(40);
  });

  it("a new device with many conversations lists all of them and loads only the newest part of the recent ones", async () => {
    const { server, amina } = makePair();
    const chats = [];
    for (let i = 0; i < 75; i++) {
      const friend = server.addPerson(`Friend ${i}`);
      const chat = server.connect(amina, friend);
      server.sendTexts(friend, chat, ...numbered(1, 60));
      server.execute(amina, { type: "mark", conversation: chat, delivered: 60, read: 60 });
      chats.push(chat);
    }
    const tab = await makeDevice(server, amina).openTab();
    await eventually(async () => expect(await listConversations(tab)).toHaveLength(75));
    await eventually(async () => expect(await getContext(tab).store.messages.count()).toBe(300));
    const list = await listConversations(tab);
    expect(new Set(list.map(({ id }) => id))).toEqual(new Set(chats));
    expect(list.every(({ at }, index) => at <= (list[index - 1]?.at ?? at))).toBe(true);
    const oldest = chats[0] ?? "";
    expect(await listTexts(tab, oldest)).toEqual([]);
    expect(await readChat(getContext(tab), oldest, 40)).toMatchObject({ isNotLoadedYet: true });
    tab.prioritizeConversation(oldest);
    await eventually(async () => expect(await listTexts(tab, oldest)).toEqual(numbered(31, 60)));
    expect((await getContext(tab).store.people.where("state").equals("contact").toArray()).length).toBe(76);
  });

  it("a recreated log replaces the stored one, and unsent messages are sent to the new one", async () => {
    const { server, amina, benoit, chat } = makePair();
    const phone = makeDevice(server, amina);
    const tab = await phone.openTab();
    server.sendTexts(benoit, chat, ...numbered(1, 50));
    await waitUntilDeviceSynced(server, tab, chat);
    phone.faults.isOffline = true;
    await enqueueText(tab, chat, "unsent");
    server.recreateLog(chat);
    server.sendTexts(benoit, chat, "new beginning");
    phone.faults.isOffline = false;
    phone.wake();
    await waitUntilDeviceSynced(server, tab, chat);
    expect(await listShown(tab, chat)).toEqual(["new beginning", "unsent sent"]);
  });

  it("a server whose row and log disagree is not requested endlessly", async () => {
    const { server, amina, benoit, chat } = makePair();
    server.sendTexts(benoit, chat, ...numbered(1, 60));
    const phone = makeDevice(server, amina);
    const tab = await phone.openTab();
    await waitUntilDeviceSynced(server, tab, chat);
    const execute = server.execute.bind(server);
    server.execute = ((user, command, source) => {
      const answer = execute(user, command, source);
      return command.type === "page" ? { ...answer, epoch: `other${server.executedCommands.length}` } : answer;
    }) as typeof server.execute;
    const before = pagesAsked(server).length;
    server.recreateLog(chat);
    server.sendTexts(benoit, chat, ...numbered(1, 60));
    await phone.pass(60_000);
    expect(pagesAsked(server).length - before).toBeLessThan(12);
  });

  it("a recreated inbox gives its conversations other handles without confusing them", async () => {
    const { server, amina, benoit, chat } = makePair();
    const chantal = server.addPerson("Chantal");
    const second = server.connect(amina, chantal);
    const tab = await makeDevice(server, amina).openTab();
    server.sendTexts(benoit, chat, "from Benoît");
    server.sendTexts(chantal, second, "from Chantal");
    await waitUntilDeviceSynced(server, tab, chat);
    await waitUntilDeviceSynced(server, tab, second);
    server.recreateInbox(amina);
    server.sendTexts(benoit, chat, "again Benoît");
    server.sendTexts(chantal, second, "again Chantal");
    await eventually(() => expect(server.inbox(amina).sockets.size).toBe(1));
    server.sendTexts(benoit, chat, "and live");
    await waitUntilDeviceSynced(server, tab, chat);
    await waitUntilDeviceSynced(server, tab, second);
    expect(await listTexts(tab, chat)).toEqual(["from Benoît", "again Benoît", "and live"]);
    expect(await listTexts(tab, second)).toEqual(["from Chantal", "again Chantal"]);
  });

  it("a hidden conversation leaves the list and returns with new messages only", async () => {
    const { server, amina, benoit, chat } = makePair();
    const tab = await makeDevice(server, amina).openTab();
    server.sendTexts(benoit, chat, ...numbered(1, 5));
    await waitUntilDeviceSynced(server, tab, chat);
    await clearConversationHistory(tab, chat, false);
    await eventually(async () => expect(await listConversations(tab)).toEqual([]));
    expect(await getContext(tab).store.queryMessages(chat, 0).count()).toBe(0);
    server.sendTexts(benoit, chat, "new");
    await eventually(async () => expect(await listTexts(tab, chat)).toEqual(["new"]));
    expect((await listConversations(tab))[0]).toMatchObject({ unread: 1, last: { body: { text: "new" } } });
    expect(await readChat(getContext(tab), chat, 40)).toMatchObject({
      hasMoreLocally: false,
      hasMoreOnServer: false,
    });
  });

  it("a message to a contact can be written before the server has sent the conversation", async () => {
    const { server, amina } = makePair();
    const chantal = server.addPerson("Chantal");
    const phone = makeDevice(server, amina);
    phone.faults.isOffline = true;
    const tab = await phone.openTab();
    const chat = privateConversationId(amina, chantal);
    await enqueueText(tab, chat, "first");
    expect(await listShown(tab, chat)).toEqual(["first sending"]);
    server.connect(amina, chantal);
    phone.faults.isOffline = false;
    phone.wake();
    await waitUntilDeviceSynced(server, tab, chat);
    expect(await listShown(tab, chat)).toEqual(["first sent"]);
  });

  it("messages sent and read on one device of a person are shown on the other", async () => {
    const { server, amina, benoit, chat } = makePair();
    const phone = await makeDevice(server, amina).openTab();
    const laptop = await makeDevice(server, amina).openTab();
    await enqueueText(phone, chat, "from the phone");
    server.sendTexts(benoit, chat, "answer");
    await waitUntilDeviceSynced(server, laptop, chat);
    await waitUntilDeviceSynced(server, phone, chat);
    expect(await listTexts(laptop, chat)).toEqual(await listTexts(phone, chat));
    expect((await listConversations(phone))[0]).toMatchObject({ unread: 1 });
    const viewed = new ReadTracker(laptop);
    viewed.markRead(chat, 2);
    await viewed.flush();
    await eventually(async () => expect((await listConversations(phone))[0]).toMatchObject({ unread: 0 }));
  });

  it("messages read offline are reported when the network is back, also by a later tab", async () => {
    const { server, amina, benoit, chat } = makePair();
    const phone = makeDevice(server, amina);
    const first = await phone.openTab();
    server.sendTexts(benoit, chat, ...numbered(1, 3));
    await waitUntilDeviceSynced(server, first, chat);
    phone.faults.isOffline = true;
    const viewed = new ReadTracker(first);
    viewed.markRead(chat, 3);
    await viewed.flush();
    expect((await listConversations(first))[0]).toMatchObject({ unread: 0 });
    await phone.kill(first);
    expect(server.log(chat).members.get(amina)).toMatchObject({ read: 0 });
    phone.faults.isOffline = false;
    await phone.openTab();
    await eventually(() => expect(server.log(chat).members.get(amina)).toMatchObject({ delivered: 3, read: 3 }));
  });

  it("an outdated count that arrives after a newer one changes nothing", async () => {
    const { server, amina, benoit, chat } = makePair();
    const tab = await makeDevice(server, amina).openTab();
    server.sendTexts(benoit, chat, ...numbered(1, 6));
    await waitUntilDeviceSynced(server, tab, chat);
    const applyOwnRead = (read: number, unread: number) =>
      applyInTransaction(getContext(tab), [{ type: "ownRead", target: chat, delivered: 6, read, unread, head: 6 }]);
    await applyOwnRead(6, 0);
    await applyOwnRead(2, 4);
    expect((await listConversations(tab))[0]).toMatchObject({ unread: 0 });
    const row = { ...server.row(amina, server.log(chat)), read: 2, unread: 4 };
    await applyInTransaction(getContext(tab), [{ type: "row", row }]);
    expect((await listConversations(tab))[0]).toMatchObject({ unread: 0 });
  });

  it("a count by HTTP that was overtaken by a message does not mark it as read", async () => {
    const { server, amina, benoit, chat } = makePair();
    const tab = await makeDevice(server, amina).openTab();
    server.sendTexts(benoit, chat, "a");
    await waitUntilDeviceSynced(server, tab, chat);
    const context = getContext(tab);
    const marks = { conversation: chat, delivered: 1, read: 0 };
    await applyReceiptResult(context, { ...marks, unread: 0, head: 0 });
    expect((await listConversations(tab))[0]).toMatchObject({ unread: 1 });
    await applyReceiptResult(context, { ...marks, read: 1, unread: 0, head: 1 });
    expect((await listConversations(tab))[0]).toMatchObject({ unread: 0 });
  });

  it("a message counts as unread once, whether a page or a push of it comes first, or an own message before it", async () => {
    const { server, amina, benoit, chat } = makePair();
    const phone = makeDevice(server, amina);
    const tab = await phone.openTab();
    server.sendTexts(benoit, chat, "a");
    await waitUntilDeviceSynced(server, tab, chat);
    phone.faults.blackhole = true;
    server.sendTexts(benoit, chat, "b");
    server.sendTexts(amina, chat, "c");
    const unread = async () => (await listConversations(tab))[0]?.unread;
    const page = server.execute(amina, { type: "page", conversation: chat, direction: "after", seq: 1, limit: 10 });
    if (isRefusal(page)) throw new Error(page.error);
    const [pushed, own] = page.messages;
    if (!pushed || !own) throw new Error("no messages");
    // The own message, sent by HTTP, gets its position before the message preceding it arrived.
    await applyInTransaction(getContext(tab), [{ type: "messages", target: chat, messages: [own] }]);
    expect(await unread()).toBe(1);
    const request = { conversation: chat, direction: "after", seq: 1, head: 1, revised: 0 } as const;
    await applyInTransaction(getContext(tab), [{ type: "page", request, page }]);
    expect(await unread()).toBe(2);
    await applyInTransaction(getContext(tab), [{ type: "messages", target: chat, messages: [pushed] }]);
    await applyInTransaction(getContext(tab), [{ type: "page", request, page }]);
    expect(await unread()).toBe(2);
  });

  it("an own message whose acknowledgement was lost is not shown twice when its row comes first", async () => {
    const { server, amina, chat } = makePair();
    const phone = makeDevice(server, amina);
    const tab = await phone.openTab();
    await eventually(() => expect(tab.link.get()).toBe("online"));
    phone.faults.dropAck = 1;
    await enqueueText(tab, chat, "once");
    await eventually(() => expect(server.log(chat).messages).toHaveLength(1));
    await applyInTransaction(getContext(tab), [{ type: "row", row: server.row(amina, server.log(chat)) }]);
    expect(await listTexts(tab, chat)).toEqual(["once"]);
    phone.faults.dropAck = 0;
    await waitUntilDeviceSynced(server, tab, chat);
    expect(await listShown(tab, chat)).toEqual(["once sent"]);
  });

  it("own messages are never reported as received or read", async () => {
    const { server, amina, chat } = makePair();
    const phone = makeDevice(server, amina);
    const tab = await phone.openTab();
    for (const text of ["1", "2", "3"]) await enqueueText(tab, chat, text);
    await waitUntilDeviceSynced(server, tab, chat);
    const viewed = new ReadTracker(tab);
    viewed.markRead(chat, 3);
    await viewed.flush();
    await phone.pass(5_000);
    expect(server.executedCommands.filter(({ command }) => command.type === "mark")).toEqual([]);
  });

  it("receipts of many messages are sent together", async () => {
    const { server, amina, benoit, chat } = makePair();
    const tab = await makeDevice(server, amina).openTab();
    await eventually(() => expect(tab.link.get()).toBe("online"));
    server.sendTexts(benoit, chat, ...numbered(1, 100));
    await waitUntilDeviceSynced(server, tab, chat);
    await eventually(() => expect(server.log(chat).members.get(amina)).toMatchObject({ delivered: 100 }));
    expect(server.executedCommands.filter(({ command }) => command.type === "mark").length).toBeLessThan(10);
  });
});
