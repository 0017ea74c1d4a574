import { afterEach, describe, expect, it, vi } from "vitest";
import type { ConversationId } from "#contract/ids.ts";
import { typingLastsMs } from "#contract/limits/messages.ts";
import { deleteMessageBySeq } from "#sync/commands/conversation-commands.ts";
import type { SyncClient } from "#sync/engine/sync-client.ts";
import { TypingTracker } from "#sync/presence/typing-tracker.ts";
import { readChat } from "#sync/queries/chat-messages.ts";
import { readBlockedPeople } from "#sync/queries/people.ts";
import { enqueueText } from "#sync/sending/enqueue.ts";
import { enqueueBroadcast, enqueueForward } from "#sync/sending/multicast.ts";
import { listOutbox } from "#sync/unsent/messages.ts";
import { eventually } from "#tests/support/model/eventually.ts";
import { getContext, listShown, listTexts, waitUntilDeviceSynced } from "#tests/support/model/model-checks.ts";
import { makeDevice, makePair } from "#tests/support/model/model-fixtures.ts";
import type { ModelServer } from "#tests/support/model/model-server.ts";

afterEach(() => {
  vi.restoreAllMocks();
});

const online = (tab: SyncClient) => eventually(() => expect(tab.link.get()).toBe("online"));

const asked = (server: ModelServer, type: string) =>
  server.executedCommands.filter(({ command }) => command.type === type);

const itemIn = async (tab: SyncClient, chat: ConversationId, index: number) => {
  const { items } = await readChat(getContext(tab), chat, 100);
  const item = items.toReversed()[index];
  if (!item) throw new Error("nothing there");
  return item;
};

describe("forwarding and broadcasting", () => {
  const makeFour = () => {
    const { server, amina, benoit, chat } = makePair();
    const others = ["Chantal", "Dieudonné", "Esther"].map((name) => server.addPerson(name));
    return { server, amina, benoit, chat, chats: others.map((id) => server.connect(amina, id)) };
  };

  it("one text is sent to many conversations in one frame, and to each once", async () => {
    const { server, amina, chats } = makeFour();
    const tab = await makeDevice(server, amina).openTab();
    await online(tab);
    await enqueueBroadcast(tab, chats, "Kimia!");
    for (const chat of chats) await waitUntilDeviceSynced(server, tab, chat);
    expect(chats.map((chat) => server.log(chat).messages.length)).toEqual([1, 1, 1]);
    expect(asked(server, "multicast")).toHaveLength(1);
    expect(asked(server, "send")).toEqual([]);
  });

  it("a text forwarded offline is shown at once, is sent by HTTP without a socket, and names its author", async () => {
    const { server, amina, benoit, chat, chats } = makeFour();
    const phone = makeDevice(server, amina);
    phone.faults.noUpgrade = true;
    const tab = await phone.openTab();
    server.sendTexts(benoit, chat, "worth telling");
    await waitUntilDeviceSynced(server, tab, chat);
    phone.faults.isOffline = true;
    await enqueueForward(tab, chat, await itemIn(tab, chat, 0), chats);
    expect(await listShown(tab, chats[0] ?? "")).toEqual(["worth telling sending"]);
    phone.faults.isOffline = false;
    phone.wake();
    for (const one of chats) await waitUntilDeviceSynced(server, tab, one);
    const forwarded = { by: benoit, name: "Benoît" };
    for (const one of chats)
      expect(server.log(one).messages[0]).toMatchObject({ body: { text: "worth telling", forwarded } });
    const [first = "", second = ""] = chats;
    await enqueueForward(tab, first, await itemIn(tab, first, 0), [second]);
    await waitUntilDeviceSynced(server, tab, second);
    expect(server.log(second).messages[1]).toMatchObject({ body: { forwarded } });
    expect(asked(server, "multicast").length).toBeGreaterThan(0);
  });

  it("a multicast whose acknowledgements are lost is sent again and stored once in each conversation", async () => {
    const { server, amina, chats } = makeFour();
    const phone = makeDevice(server, amina);
    const tab = await phone.openTab();
    await online(tab);
    phone.faults.dropAck = 1;
    await enqueueBroadcast(tab, chats, "once each");
    await eventually(() => expect(chats.map((chat) => server.log(chat).messages.length)).toEqual([1, 1, 1]));
    await phone.pass(25_000);
    phone.faults.dropAck = 0;
    for (const chat of chats) await waitUntilDeviceSynced(server, tab, chat);
    expect(chats.map((chat) => server.log(chat).messages.length)).toEqual([1, 1, 1]);
    expect(asked(server, "multicast").length).toBeGreaterThan(1);
  });

  it.each([{ noUpgrade: false }, { noUpgrade: true }])(
    "if one of the conversations refuses it the others get it (without sockets: $noUpgrade)",
    async ({ noUpgrade }) => {
      const { server, amina, chats } = makeFour();
      const phone = makeDevice(server, amina);
      phone.faults.noUpgrade = noUpgrade;
      const tab = await phone.openTab();
      const [open = "", closed = "", last = ""] = chats;
      server.closeConversation(closed);
      await online(tab);
      await enqueueBroadcast(tab, chats, "to all");
      for (const chat of [open, last]) await waitUntilDeviceSynced(server, tab, chat);
      await eventually(async () => expect(await listShown(tab, closed)).toEqual(["to all failed"]));
      expect(listOutbox(tab.unsent)).toMatchObject([{ error: "not_connected" }]);
    },
  );

  it("texts and multicasts to the same conversations arrive in the order of writing", async () => {
    const { server, amina, chats } = makeFour();
    for (const noUpgrade of [true, false]) {
      const phone = makeDevice(server, amina);
      phone.faults.isOffline = true;
      const tab = await phone.openTab();
      const [first = ""] = chats;
      const name = noUpgrade ? "http" : "socket";
      await enqueueText(tab, first, `${name} 1`);
      await enqueueBroadcast(tab, chats, `${name} 2`);
      await enqueueText(tab, first, `${name} 3`);
      await enqueueBroadcast(tab, chats, `${name} 4`);
      Object.assign(phone.faults, { isOffline: false, noUpgrade });
      phone.wake();
      for (const chat of chats) await waitUntilDeviceSynced(server, tab, chat);
      expect((await listTexts(tab, first)).slice(-4)).toEqual([1, 2, 3, 4].map((n) => `${name} ${n}`));
    }
  });

  it("a message not yet, or no longer, on the server cannot be forwarded", async () => {
    const { server, amina, chat, chats } = makeFour();
    const phone = makeDevice(server, amina);
    const tab = await phone.openTab();
    await enqueueText(tab, chat, "first");
    await waitUntilDeviceSynced(server, tab, chat);
    await deleteMessageBySeq(tab, chat, 1);
    await expect(enqueueForward(tab, chat, await itemIn(tab, chat, 0), chats)).rejects.toMatchObject({
      code: "original_gone",
    });
    phone.faults.isOffline = true;
    server.inbox(amina).sockets.forEach((socket) => {
      socket.end(1006);
    });
    await enqueueText(tab, chat, "unsent");
    const unsent = await itemIn(tab, chat, 1);
    await expect(enqueueForward(tab, chat, unsent, chats)).rejects.toMatchObject({ code: "message_not_found" });
  });

  it("a message that arrived since it was shown can be forwarded, and one deleted since cannot", async () => {
    const { server, amina, chat, chats } = makeFour();
    const phone = makeDevice(server, amina);
    phone.faults.isOffline = true;
    const tab = await phone.openTab();
    await enqueueText(tab, chat, "on its way");
    const shown = await itemIn(tab, chat, 0);
    expect(shown.seq).toBeUndefined();
    phone.faults.isOffline = false;
    phone.wake();
    await waitUntilDeviceSynced(server, tab, chat);
    await enqueueForward(tab, chat, shown, chats);
    for (const one of chats) await waitUntilDeviceSynced(server, tab, one);
    expect(server.log(chats[0] ?? "").messages).toMatchObject([{ body: { text: "on its way" } }]);
    const before = await itemIn(tab, chat, 0);
    await deleteMessageBySeq(tab, chat, 1);
    await expect(enqueueForward(tab, chat, before, chats)).rejects.toMatchObject({ code: "original_gone" });
  });
});

describe("typing", () => {
  const shows = (tab: SyncClient, chat: ConversationId) => tab.typing.members.get().has(chat);

  it("ends with a message of the person who types, not with an own one", async () => {
    const { server, amina, benoit, chat } = makePair();
    const tab = await makeDevice(server, amina).openTab();
    await waitUntilDeviceSynced(server, tab, chat);
    const context = getContext(tab);
    const changes: boolean[] = [];
    // Nothing expires here.
    const platform = { ...context.platform, startTimer: () => () => {} };
    const typists = new TypingTracker({ ...context, platform }, { sendTyping: () => true }, (_, isOn) =>
      changes.push(isOn),
    );
    const noticeRow = async () =>
      typists.handleApplied((await context.store.conversations.get(chat).then((row) => row && [row])) ?? []);
    await typists.handleTyping(server.row(amina, server.log(chat)).handle, 1);
    await enqueueText(tab, chat, "mine");
    await eventually(async () => expect(await listShown(tab, chat)).toEqual(["mine sent"]));
    await noticeRow();
    expect(changes).toEqual([true]);
    server.sendTexts(benoit, chat, "typed");
    await waitUntilDeviceSynced(server, tab, chat);
    await noticeRow();
    expect(changes).toEqual([true, false]);
  });

  it("is shown in every tab of the other, and expires", async () => {
    const { server, amina, benoit, chat } = makePair();
    const phone = makeDevice(server, amina);
    const leader = await phone.openTab();
    const second = await phone.openTab();
    const benoitTab = await makeDevice(server, benoit).openTab();
    for (const tab of [leader, second, benoitTab]) {
      await online(tab);
      await waitUntilDeviceSynced(server, tab, chat);
    }
    benoitTab.typing.reportTyping(chat);
    for (const tab of [leader, second]) await eventually(() => expect(shows(tab, chat)).toBe(true));
    expect(shows(benoitTab, chat)).toBe(false);
    await phone.pass(typingLastsMs * 2);
    for (const tab of [leader, second]) expect(shows(tab, chat)).toBe(false);
  });

  it("is sent at most every few seconds, through the leader tab, and only over a socket", async () => {
    const { server, amina, benoit, chat } = makePair();
    const phone = makeDevice(server, amina);
    await phone.openTab();
    const second = await phone.openTab();
    const benoitTab = await makeDevice(server, benoit).openTab();
    for (const tab of [second, benoitTab]) {
      await online(tab);
      await waitUntilDeviceSynced(server, tab, chat); // nobody is notified about a chat that is not stored here yet
    }
    let sentCount = 0;
    const type = server.sendTyping.bind(server);
    server.sendTyping = (...rest) => {
      sentCount++;
      type(...rest);
    };
    for (let key = 0; key < 50; key++) second.typing.reportTyping(chat);
    await eventually(() => expect(shows(benoitTab, chat)).toBe(true));
    expect(sentCount).toBe(1);
    const requests = phone.requests.length;
    phone.faults.noUpgrade = true;
    server.inbox(amina).sockets.forEach((socket) => {
      socket.end(1006);
    });
    await phone.pass(typingLastsMs);
    second.typing.reportTyping(chat);
    await phone.pass(1_000);
    expect(sentCount).toBe(1);
    expect(phone.requests.slice(requests).filter(({ path }) => path.includes("typing"))).toEqual([]);
  });

  it("that began while the socket was closed is sent when it is back, unless the message was sent meanwhile", async () => {
    const { server, amina, benoit, chat } = makePair();
    const tab = await makeDevice(server, amina).openTab();
    const phone = makeDevice(server, benoit);
    const benoitTab = await phone.openTab();
    for (const one of [tab, benoitTab]) await online(one);
    await waitUntilDeviceSynced(server, benoitTab, chat);
    await waitUntilDeviceSynced(server, tab, chat);
    const context = getContext(benoitTab);
    const lose = () =>
      server.inbox(benoit).sockets.forEach((socket) => {
        socket.end(1006);
      });
    // Time stands still for the person who types, so that "within moments" does not depend on the machine.
    const now = context.platform.now();
    vi.spyOn(context.platform, "now").mockReturnValue(now);
    phone.faults.noUpgrade = true;
    lose();
    benoitTab.typing.reportTyping(chat);
    await phone.pass(1_000);
    expect(shows(tab, chat)).toBe(false);
    phone.faults.noUpgrade = false;
    phone.wake();
    await eventually(() => expect(shows(tab, chat)).toBe(true));
    await eventually(() => expect(shows(tab, chat)).toBe(false));
    vi.spyOn(context.platform, "now").mockReturnValue(now + typingLastsMs);
    let sentCount = 0;
    vi.spyOn(server, "sendTyping").mockImplementation(() => void sentCount++);
    phone.faults.noUpgrade = true;
    lose();
    benoitTab.typing.reportTyping(chat);
    await enqueueText(benoitTab, chat, "sent meanwhile");
    phone.faults.noUpgrade = false;
    phone.wake();
    await eventually(async () => expect(await listShown(tab, chat)).toEqual(["sent meanwhile"]));
    expect(sentCount).toBe(0);
  });

  it("of a blocked person is not shown", async () => {
    const { server, amina, benoit, chat } = makePair();
    const tab = await makeDevice(server, amina).openTab();
    await waitUntilDeviceSynced(server, tab, chat);
    const known = server.inbox(amina).people.get(benoit)?.relation;
    if (!known) throw new Error("unknown");
    server.updateContact(amina, { ...known, blocked: true });
    const { store } = getContext(tab);
    await eventually(async () => expect(await readBlockedPeople(store)).toHaveLength(1));
    server.sendTyping(benoit, chat);
    server.sendTexts(benoit, chat, "a message that shows that the frame before it was read");
    await waitUntilDeviceSynced(server, tab, chat);
    expect(shows(tab, chat)).toBe(false);
  });
});
