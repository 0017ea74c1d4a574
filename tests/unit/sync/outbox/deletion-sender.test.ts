import { IDBObjectStore } from "fake-indexeddb";
import { afterEach, describe, expect, it, vi } from "vitest";
import { type ConversationId, createUuid, type Uuid } from "#contract/ids.ts";
import type { Refusal } from "#contract/wire/commands.ts";
import { clearConversationHistory, deleteMessageByClientId } from "#sync/commands/conversation-commands.ts";
import type { SyncClient } from "#sync/engine/sync-client.ts";
import { discardUnsentMessage } from "#sync/sending/discard-message.ts";
import { enqueueText } from "#sync/sending/enqueue.ts";
import { enqueueBroadcast } from "#sync/sending/multicast.ts";
import { deleteAllButUnsent } from "#sync/store/open-database.ts";
import { listOutbox } from "#sync/unsent/messages.ts";
import { unsentDeletions } from "#sync/unsent/operations.ts";
import { eventually } from "#tests/support/model/eventually.ts";
import {
  getContext,
  listConversations,
  listShown,
  listTexts,
  waitUntilDeviceSynced,
} from "#tests/support/model/model-checks.ts";
import type { ModelDevice } from "#tests/support/model/model-device.ts";
import { makeDevice, makeGroup, makePair } from "#tests/support/model/model-fixtures.ts";
import type { ModelServer } from "#tests/support/model/model-server.ts";

afterEach(() => {
  vi.restoreAllMocks();
});

const bodiesIn = (server: ModelServer, chat: ConversationId) =>
  server.log(chat).messages.map(({ body }) => (body.type === "text" ? body.text : body.type));

const unsentCid = async (tab: SyncClient): Promise<Uuid> => listOutbox(tab.unsent).at(-1)?.cid ?? "";

const disconnect = (phone: ModelDevice): void => {
  phone.faults.isOffline = true;
  for (const socket of phone.server.inbox(phone.user).sockets) socket.end(1006);
};

const reconnect = (phone: ModelDevice): void => {
  phone.faults.isOffline = false;
  phone.wake();
};

/** Sends a message, loses its acknowledgement although the server has stored it, and deletes it. */
const deleteOnItsWay = async (phone: ModelDevice, tab: SyncClient, chat: ConversationId): Promise<Uuid> => {
  const { server } = phone;
  await eventually(() => expect(tab.link.get()).toBe("online"));
  const before = server.log(chat).messages.length;
  const { refuse } = server;
  // Nor does the phone find it by reading the chat.
  server.refuse = (user, command) => (command.type === "page" ? { error: "unavailable" } : refuse(user, command));
  phone.faults.dropAck = 1;
  await enqueueText(tab, chat, "regretted");
  await eventually(() => expect(server.log(chat).messages).toHaveLength(before + 1));
  disconnect(phone);
  phone.faults.dropAck = 0;
  server.refuse = refuse;
  const cid = await unsentCid(tab);
  expect(await discardUnsentMessage(tab, cid)).toBe(true);
  return cid;
};

const isForgotten = (tab: SyncClient) =>
  eventually(async () => expect(unsentDeletions.list(getContext(tab).unsent)).toEqual([]));

/** Whether it was written into any store since. */
const watchStores = (word: string): (() => boolean) => {
  let isWritten = false;
  for (const method of ["put", "add"] as const) {
    const write = IDBObjectStore.prototype[method];
    vi.spyOn(IDBObjectStore.prototype, method).mockImplementation(function (this: IDBObjectStore, ...args) {
      if (JSON.stringify(args[0])?.includes(word)) isWritten = true;
      return write.apply(this, args);
    });
  }
  return () => isWritten;
};

describe("a message deleted while being sent that arrived", () => {
  it.each([
    ["the server has sent many other changes since", false, false],
    ["the server has sent many other changes since and the session ended", true, false],
    ["its author has cleared the chat", false, true],
  ])("is deleted for everybody, though %s", async (_, isSignedOut, isCleared) => {
    const { server, amina, benoit, chat } = makePair();
    const phone = makeDevice(server, amina);
    const tab = await phone.openTab();
    await deleteOnItsWay(phone, tab, chat);
    server.sendTexts(benoit, chat, ...Array.from({ length: 260 }, (__, i) => `n${i}`));
    if (isCleared) server.execute(amina, { type: "clearHistory", conversation: chat, upTo: 200, keep: true });
    await phone.kill(tab);
    if (isSignedOut) await deleteAllButUnsent(phone.platform(), amina);
    phone.faults.isOffline = false;
    const next = await phone.openTab();
    await eventually(() => expect(bodiesIn(server, chat)[0]).toBe("deleted"));
    await waitUntilDeviceSynced(server, next, chat);
    await isForgotten(next);
    expect(server.executedCommands.filter(({ command }) => command.type === "deletePending")).toHaveLength(1);
  });

  it("is hidden on its author's phone until the server executed the deletion, also in the list", async () => {
    const { server, amina, benoit, chat } = makePair();
    const phone = makeDevice(server, amina);
    const tab = await phone.openTab();
    server.sendTexts(benoit, chat, "Mbote");
    await waitUntilDeviceSynced(server, tab, chat);
    await deleteOnItsWay(phone, tab, chat);
    const isWritten = watchStores("regretted");
    server.refuse = (_, { type }) => (type === "deletePending" ? { error: "unavailable" } : undefined);
    reconnect(phone);
    await eventually(async () => expect(await listTexts(tab, chat)).toEqual(["Mbote", "deleted"]));
    expect((await listConversations(tab))[0]).toMatchObject({ last: { body: { type: "deleted" } } });
    expect(bodiesIn(server, chat)).toEqual(["Mbote", "regretted"]);
    // Later events do not mention it, and neither does the row of another welcome.
    server.sendTexts(benoit, chat, "Allô ?");
    await eventually(async () => expect(await listTexts(tab, chat)).toEqual(["Mbote", "deleted", "Allô ?"]));
    disconnect(phone);
    reconnect(phone);
    server.refuse = () => undefined;
    await waitUntilDeviceSynced(server, tab, chat);
    await isForgotten(tab);
    expect(bodiesIn(server, chat)).toEqual(["Mbote", "deleted", "Allô ?"]);
    expect(isWritten()).toBe(false);
  });

  it("leaves no earlier text in the list when the chat is cleared on another device meanwhile", async () => {
    const { server, amina, chat } = makePair();
    const phone = makeDevice(server, amina);
    const tab = await phone.openTab();
    await waitUntilDeviceSynced(server, tab, chat);
    await enqueueText(tab, chat, "Mbote");
    await waitUntilDeviceSynced(server, tab, chat);
    server.refuse = (_, { type }) => (type === "deletePending" ? { error: "unavailable" } : undefined);
    await deleteOnItsWay(phone, tab, chat);
    server.execute(amina, { type: "clearHistory", conversation: chat, upTo: 2, keep: true });
    reconnect(phone);
    await waitUntilDeviceSynced(server, tab, chat);
    expect((await listConversations(tab))[0]?.last?.body ?? null).toBeNull();
    server.refuse = () => undefined;
    await isForgotten(tab);
    await waitUntilDeviceSynced(server, tab, chat);
    expect(bodiesIn(server, chat)).toEqual(["Mbote", "deleted"]);
  });

  it("is not restored by a page that was being sent when the server executed the deletion", async () => {
    const { server, amina, benoit, chat } = makePair();
    const phone = makeDevice(server, amina);
    phone.faults.noUpgrade = true;
    const tab = await phone.openTab();
    server.sendTexts(benoit, chat, ...Array.from({ length: 30 }, (_, i) => `n${i}`));
    await waitUntilDeviceSynced(server, tab, chat);
    phone.shouldLose = ({ method, path }, what) => what === "answer" && method === "POST" && path.endsWith("/messages");
    server.refuse = (_, { type }) => (type === "page" ? { error: "unavailable" } : undefined);
    await enqueueText(tab, chat, "regretted");
    await eventually(() => expect(server.log(chat).messages).toHaveLength(31));
    server.sendTexts(benoit, chat, "Allô ?");
    server.refuse = () => undefined;
    const asked = { type: "page", conversation: chat, direction: "after", seq: 30, limit: 10 } as const;
    const page = server.execute(amina, asked);
    expect(JSON.stringify(page)).toContain("regretted");
    const isWritten = watchStores("regretted");
    // Requests from now on are answered from before the deletion, and arrive after the phone was notified of it.
    let isAnswered = false;
    const execute = server.execute.bind(server);
    vi.spyOn(server, "execute").mockImplementation((user, command, source) => {
      if (command.type !== "page") return execute(user, command, source);
      return (isAnswered ? page : { error: "unavailable" }) as never;
    });
    await discardUnsentMessage(tab, await unsentCid(tab));
    await isForgotten(tab);
    expect(bodiesIn(server, chat)[30]).toBe("deleted");
    isAnswered = true;
    await eventually(async () => expect((await listTexts(tab, chat)).slice(30)).toEqual(["deleted", "Allô ?"]));
    phone.shouldLose = () => false;
    vi.mocked(server.execute).mockRestore();
    await waitUntilDeviceSynced(server, tab, chat);
    expect(isWritten()).toBe(false);
  });

  it("is withdrawn again if the answer was lost, also by the leader tab for another tab", async () => {
    const { server, amina, chat } = makePair();
    const phone = makeDevice(server, amina);
    const leader = await phone.openTab();
    const second = await phone.openTab();
    await waitUntilDeviceSynced(server, second, chat);
    let lost = 0;
    phone.shouldLose = ({ path }, what) => path.includes("/withdrawals/") && what === "answer" && lost++ < 2;
    await deleteOnItsWay(phone, second, chat);
    reconnect(phone);
    await eventually(() => expect(bodiesIn(server, chat)).toEqual(["deleted"]));
    for (const tab of [leader, second]) {
      await waitUntilDeviceSynced(server, tab, chat);
      await isForgotten(tab);
    }
    expect(lost).toBe(3);
    expect(server.log(chat).revision).toBe(1);
  });

  it("that the server has and the phone lost is deleted if its author confirmed it before", async () => {
    const { server, amina, chat } = makePair();
    const phone = makeDevice(server, amina);
    disconnect(phone);
    const tab = await phone.openTab();
    await enqueueText(tab, chat, "regretted");
    const cid = await unsentCid(tab);
    reconnect(phone);
    await waitUntilDeviceSynced(server, tab, chat);
    await clearConversationHistory(tab, chat, true);
    await deleteMessageByClientId(tab, chat, cid);
    await eventually(() => expect(bodiesIn(server, chat)).toEqual(["deleted"]));
    await isForgotten(tab);
  });

  it("in a log that was replaced deletes nothing in the new one", async () => {
    const { server, amina, benoit, chat } = makePair();
    const phone = makeDevice(server, amina);
    const tab = await phone.openTab();
    await deleteOnItsWay(phone, tab, chat);
    server.recreateLog(chat);
    server.sendTexts(amina, chat, "stays");
    server.sendTexts(benoit, chat, "too");
    reconnect(phone);
    await isForgotten(tab);
    await waitUntilDeviceSynced(server, tab, chat);
    expect(await listTexts(tab, chat)).toEqual(["stays", "too"]);
  });

  it("in a group that its author has left is requested once and then dropped", async () => {
    const { server, amina, benoit, group } = makeGroup();
    const phone = makeDevice(server, benoit);
    const tab = await phone.openTab();
    await waitUntilDeviceSynced(server, tab, group);
    await deleteOnItsWay(phone, tab, group);
    expect(server.changeGroup(amina, group, { type: "remove", user: benoit })).toBeUndefined();
    reconnect(phone);
    await isForgotten(tab);
    expect(bodiesIn(server, group)).toContain("regretted");
    expect(await listTexts(tab, group)).toEqual([]);
    expect(server.executedCommands.filter(({ command }) => command.type === "deletePending")).toHaveLength(1);
  });
});

describe("a message deleted while being sent that had not arrived", () => {
  it("is ignored when its frame arrives after all, and later messages are stored", async () => {
    const { server, amina, benoit, chat } = makePair();
    const phone = makeDevice(server, amina);
    disconnect(phone);
    const tab = await phone.openTab();
    await enqueueText(tab, chat, "regretted");
    const cid = await unsentCid(tab);
    await discardUnsentMessage(tab, cid);
    await enqueueText(tab, chat, "stays");
    const benoitTab = await makeDevice(server, benoit).openTab();
    reconnect(phone);
    await isForgotten(tab);
    const late = [{ cid, body: { type: "text", text: "regretted" } as const }];
    expect(server.execute(amina, { type: "send", conversation: chat, messages: late })).toEqual({
      error: "message_withdrawn",
    } satisfies Refusal);
    for (const one of [tab, benoitTab]) await waitUntilDeviceSynced(server, one, chat);
    expect(await listTexts(benoitTab, chat)).toEqual(["stays"]);
    expect(await listTexts(tab, chat)).toEqual(["stays"]);
  });

  it.each([
    ["over a socket", false],
    ["by HTTP", true],
  ])("is silently removed from the phone if a copy of it was left and is refused %s", async (_, noUpgrade) => {
    const { server, amina, chat } = makePair();
    const phone = makeDevice(server, amina);
    phone.faults.noUpgrade = noUpgrade;
    phone.faults.isOffline = true;
    const tab = await phone.openTab();
    await enqueueText(tab, chat, "regretted");
    await enqueueText(tab, chat, "stays");
    const copy = listOutbox(tab.unsent)[0];
    server.execute(amina, { type: "deletePending", conversation: chat, cid: copy?.cid ?? "" });
    reconnect(phone);
    await waitUntilDeviceSynced(server, tab, chat);
    expect(listOutbox(tab.unsent).length).toBe(0);
    expect(await listShown(tab, chat)).toEqual(["stays sent"]);
    expect(phone.notices).not.toContain("store-reset");
  });

  it("to several conversations is sent to those where it was not deleted", async () => {
    const { server, amina, withBenoit, group } = makeGroup();
    const phone = makeDevice(server, amina);
    disconnect(phone);
    const tab = await phone.openTab();
    await enqueueBroadcast(tab, [withBenoit, group], "to both");
    const rows = listOutbox(tab.unsent);
    const toOne = rows.find(({ conversation }) => conversation === withBenoit);
    await discardUnsentMessage(tab, toOne?.cid ?? "");
    reconnect(phone);
    await isForgotten(tab);
    await eventually(() => expect(bodiesIn(server, group).at(-1)).toBe("to both"));
    expect(bodiesIn(server, withBenoit)).toEqual([]);
    expect(server.log(withBenoit).deletedPending).toEqual(new Set([`${amina} ${toOne?.cid}`]));
  });

  it("is requested again after the answers not found, unavailable and rate limited", async () => {
    const { server, amina, chat } = makePair();
    const phone = makeDevice(server, amina);
    const tab = await phone.openTab();
    const answers: Refusal[] = [{ error: "not_found" }, { error: "unavailable" }, { error: "rate_limited" }];
    server.refuse = (_, { type }) => (type === "deletePending" ? answers.shift() : undefined);
    await deleteOnItsWay(phone, tab, chat);
    reconnect(phone);
    await eventually(() => expect(bodiesIn(server, chat)).toEqual(["deleted"]));
    expect(answers).toEqual([]);
    await isForgotten(tab);
    await waitUntilDeviceSynced(server, tab, chat);
  });

  it("is requested no earlier than the server says", async () => {
    const { server, amina, chat } = makePair();
    const phone = makeDevice(server, amina);
    const tab = await phone.openTab();
    const asked: number[] = [];
    server.refuse = (_, { type }) => {
      if (type !== "deletePending") return undefined;
      asked.push(phone.now());
      return asked.length === 1 ? { error: "rate_limited", retryAfterMs: 8_000 } : undefined;
    };
    await waitUntilDeviceSynced(server, tab, chat);
    // A message that another device may be sending.
    await deleteMessageByClientId(tab, chat, createUuid(phone.now()));
    await isForgotten(tab);
    expect((asked[1] ?? 0) - (asked[0] ?? 0)).toBeGreaterThanOrEqual(8_000);
  });

  it("in one unreachable conversation does not delay the others", async () => {
    const { server, amina, withBenoit, group } = makeGroup();
    const phone = makeDevice(server, amina);
    disconnect(phone);
    const tab = await phone.openTab();
    for (const chat of [withBenoit, group]) {
      await enqueueText(tab, chat, "regretted");
      await discardUnsentMessage(tab, await unsentCid(tab));
    }
    server.refuse = (_, command) =>
      command.type === "deletePending" && command.conversation === withBenoit ? { error: "internal" } : undefined;
    reconnect(phone);
    await eventually(() => expect(server.log(group).deletedPending.size).toBe(1));
    expect(unsentDeletions.list(getContext(tab).unsent)).toMatchObject([{ conversation: withBenoit }]);
    server.refuse = () => undefined;
    await isForgotten(tab);
    expect(server.log(withBenoit).deletedPending.size).toBe(1);
  });
});
