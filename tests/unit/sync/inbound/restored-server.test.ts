import { describe, expect, it } from "vitest";
import { type ConversationId, createUuid } from "#contract/ids.ts";
import { inboxPageRows } from "#contract/limits/conversations.ts";
import { isRefusal } from "#contract/wire/commands.ts";
import { deleteMessageBySeq } from "#sync/commands/conversation-commands.ts";
import { applyServerChanges } from "#sync/inbound/apply/apply-server-changes.ts";
import { ReadTracker } from "#sync/inbound/read-tracker.ts";
import { fetchOlderMessages } from "#sync/queries/message-window.ts";
import { enqueueText } from "#sync/sending/enqueue.ts";
import { listOutbox } from "#sync/unsent/messages.ts";
import { eventually } from "#tests/support/model/eventually.ts";
import {
  getContext,
  listConversations,
  listShown,
  listTexts,
  waitUntilDeviceSynced,
} from "#tests/support/model/model-checks.ts";
import type { ModelDevice } from "#tests/support/model/model-device.ts";
import { makeDevice, makePair } from "#tests/support/model/model-fixtures.ts";
import type { ModelServer } from "#tests/support/model/model-server.ts";

const numbered = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, i) => `m${from + i}`);

/**
 * Amina's phone, in sync with a conversation of `known` messages from Benoît, and a copy of the server at that time.
 */
const makeCopied = async (known = 11) => {
  const pair = makePair();
  const { server, amina, benoit, chat } = pair;
  const phone = makeDevice(server, amina);
  const tab = await phone.openTab();
  server.sendTexts(benoit, chat, ...numbered(1, known));
  await waitUntilDeviceSynced(server, tab, chat);
  await eventually(() => expect(server.log(chat).members.get(amina)).toMatchObject({ delivered: known }));
  return { ...pair, phone, tab, copy: server.copy() };
};

/** Restores the copy some time after the last message. */
const restore = async (phone: ModelDevice, copy: ReturnType<ModelServer["copy"]>) => {
  await phone.pass(1_000);
  phone.server.restore(copy);
};

const reconnects = async (phone: ModelDevice) => {
  phone.wake();
  await eventually(() => expect(phone.server.inbox(phone.user).sockets.size).toBe(1));
};

describe("a server restored from an earlier copy", () => {
  it("is noticed by a device that was online: lost messages are removed, and later ones are shown", async () => {
    const { server, benoit, chat, phone, tab, copy } = await makeCopied();
    server.sendTexts(benoit, chat, ...numbered(12, 19));
    await waitUntilDeviceSynced(server, tab, chat);
    await restore(phone, copy);
    await reconnects(phone);
    await eventually(async () => expect(await listTexts(tab, chat)).toEqual(numbered(1, 11)));
    server.sendTexts(benoit, chat, "after", "the", "restore");
    await waitUntilDeviceSynced(server, tab, chat);
    expect(await listTexts(tab, chat)).toEqual([...numbered(1, 11), "after", "the", "restore"]);
    expect((await listConversations(tab))[0]).toMatchObject({ unread: 14 });
  });

  it("is noticed if messages arrived before the device did", async () => {
    const { server, benoit, chat, phone, tab, copy } = await makeCopied();
    server.sendTexts(benoit, chat, ...numbered(12, 19));
    await waitUntilDeviceSynced(server, tab, chat);
    phone.faults.isOffline = true;
    await restore(phone, copy);
    server.sendTexts(benoit, chat, "a", "b", "c", "d");
    phone.faults.isOffline = false;
    await reconnects(phone);
    await eventually(async () => expect(await listTexts(tab, chat)).toEqual([...numbered(1, 11), "a", "b", "c", "d"]));
    expect((await listConversations(tab))[0]).toMatchObject({ unread: 15 });
  });

  it.each([
    ["one place", 9],
    ["a few places", 12],
    ["more than a page", 300],
  ])("is noticed by a device that returns when the log is %s further than it was", async (_, added) => {
    const { server, benoit, chat, phone, tab, copy } = await makeCopied();
    server.sendTexts(benoit, chat, ...numbered(12, 19));
    await waitUntilDeviceSynced(server, tab, chat);
    await phone.close(tab);
    await restore(phone, copy);
    const after = Array.from({ length: added }, (_, i) => `n${i}`);
    server.sendTexts(benoit, chat, ...after);
    const next = await phone.openTab();
    await waitUntilDeviceSynced(server, next, chat);
    const all = [...numbered(1, 11), ...after];
    await eventually(async () =>
      expect(await listTexts(next, chat)).toEqual(all.slice(-(await listTexts(next, chat)).length)),
    );
    expect((await listTexts(next, chat)).length).toBeGreaterThanOrEqual(Math.min(20, added));
    await eventually(async () => expect((await listConversations(next))[0]).toMatchObject({ unread: all.length }));
  });

  it.each([30, 60, 190])(
    "keeps what it stored if only %s messages were added to the same log meanwhile",
    async (added) => {
      const { server, amina, benoit, chat, phone, tab } = await makeCopied();
      await phone.close(tab);
      server.sendTexts(benoit, chat, ...numbered(12, 11 + added));
      server.recreateInbox(amina); // the answer is complete, and compared with everything stored
      const next = await phone.openTab();
      await waitUntilDeviceSynced(server, next, chat);
      expect(await listTexts(next, chat)).toEqual(numbered(1, 11 + added));
    },
  );

  it("is sent again the own messages it had acknowledged and lost, each once and in order", async () => {
    const { server, benoit, amina, chat, phone, tab, copy } = await makeCopied();
    for (const text of ["one", "two", "three"]) await enqueueText(tab, chat, text);
    await waitUntilDeviceSynced(server, tab, chat);
    server.sendTexts(benoit, chat, "his");
    await waitUntilDeviceSynced(server, tab, chat);
    await eventually(async () =>
      expect(await listShown(tab, chat)).toEqual([...numbered(1, 11), "one sent", "two sent", "three sent", "his"]),
    );
    const second = makeDevice(server, amina);
    const other = await second.openTab();
    await waitUntilDeviceSynced(server, other, chat);
    await restore(phone, copy);
    for (const device of [phone, second]) device.wake();
    const all = [...numbered(1, 11), "one sent", "two sent", "three sent"];
    await eventually(async () => expect(await listShown(tab, chat)).toEqual(all));
    await eventually(async () => expect(await listShown(other, chat)).toEqual(all));
    expect(server.log(chat).messages).toHaveLength(14);
    expect(listOutbox(tab.unsent).length).toBe(0);
  });

  it("has messages written meanwhile after those it lost", async () => {
    const { server, chat, phone, tab, copy } = await makeCopied();
    await enqueueText(tab, chat, "lost");
    await waitUntilDeviceSynced(server, tab, chat);
    phone.faults.isOffline = true;
    await restore(phone, copy);
    await enqueueText(tab, chat, "written offline");
    phone.faults.isOffline = false;
    await reconnects(phone);
    await eventually(async () =>
      expect(await listShown(tab, chat)).toEqual([...numbered(1, 11), "lost sent", "written offline sent"]),
    );
  });

  /** Texts of the server's log. */
  const textsOnServer = (server: ModelServer, chat: ConversationId) =>
    server.log(chat).messages.map(({ body }) => (body.type === "text" ? body.text : body.type));

  /**
   * Two messages of Amina that the copy lacks, a third one that waits on her phone, and messages of Benoît in the
   * restored log. `all` is what the log contains in the end.
   */
  const makeWaiting = async (added: number, copied = makeCopied()) => {
    const made = await copied;
    const { server, benoit, chat, phone, tab, copy } = made;
    for (const text of ["lost 1", "lost 2"]) await enqueueText(tab, chat, text);
    await waitUntilDeviceSynced(server, tab, chat);
    phone.faults.isOffline = true;
    await restore(phone, copy);
    const his = Array.from({ length: added }, (_, i) => `his ${i}`);
    server.sendTexts(benoit, chat, ...his);
    await enqueueText(tab, chat, "waiting");
    phone.faults.isOffline = false;
    return { ...made, all: [...numbered(1, 11), ...his, "lost 1", "lost 2", "waiting"] };
  };

  it.each([1, 2, 3, 4, 60])("receives its lost messages before one that waits, %s places further", async (added) => {
    const { server, chat, phone, tab, all } = await makeWaiting(added);
    await reconnects(phone);
    await eventually(() => expect(textsOnServer(server, chat)).toEqual(all));
    await waitUntilDeviceSynced(server, tab, chat);
  });

  it.each([2, 6])("is sent nothing new while its log cannot be read, %s places further", async (added) => {
    const { server, chat, phone, all } = await makeWaiting(added);
    let refusals = 3;
    server.refuse = (_, { type }) => (type === "page" && refusals-- > 0 ? { error: "unavailable" } : undefined);
    await reconnects(phone);
    await eventually(() => expect(textsOnServer(server, chat)).toEqual(all));
    expect(refusals).toBeLessThan(0);
  });

  it("is sent nothing new in a conversation that is not in the first page of its list", async () => {
    const pair = makePair();
    const { server, amina, benoit, chat } = pair;
    server.sendTexts(benoit, chat, ...numbered(1, 11));
    for (let n = 0; n < inboxPageRows * 2; n++) {
      const other = server.addPerson(`Other ${n}`);
      server.sendTexts(other, server.connect(amina, other), "hello");
    }
    const phone = makeDevice(server, amina);
    const tab = await phone.openTab();
    tab.prioritizeConversation(chat);
    await waitUntilDeviceSynced(server, tab, chat);
    const copied = Promise.resolve({ ...pair, phone, tab, copy: server.copy() });
    const { all } = await makeWaiting(4, copied);
    // Benoît's messages moved the conversation to the front; in this copy it is the oldest one again.
    const entry = server.inbox(amina).entries.get(chat);
    if (entry) entry.changed = 1;
    let refusals = 3;
    server.refuse = (_, command) =>
      command.type === "changes" && command.before !== undefined && refusals-- > 0
        ? { error: "unavailable" }
        : undefined;
    await reconnects(phone);
    await eventually(() => expect(textsOnServer(server, chat)).toEqual(all));
    expect(refusals).toBeLessThan(3);
  });

  it("is sent nothing by HTTP before it has told what changed", async () => {
    const { server, chat, phone, all } = await makeWaiting(6);
    phone.faults.noUpgrade = true;
    phone.wake();
    await eventually(() => expect(textsOnServer(server, chat)).toEqual(all));
    expect(phone.requests.find(({ method, path }) => method === "POST" && path.endsWith("/messages"))).toBeDefined();
  });

  it.each([4, 30])(
    "loses nothing if the service worker has sent a message meanwhile, %s places further",
    async (added) => {
      const { server, amina, chat, phone, tab, all } = await makeWaiting(added);
      phone.faults.isOffline = true;
      const context = getContext(tab);
      const [waiting] = listOutbox(tab.unsent);
      if (waiting?.body.type !== "text") throw new Error("nothing waits");
      const { cid, body } = waiting;
      const answer = server.execute(amina, { type: "send", conversation: chat, messages: [{ cid, body }] });
      if (isRefusal(answer)) throw new Error(answer.error);
      await applyServerChanges(
        context,
        answer.sent.map((place) => ({ type: "sent", conversation: chat, epoch: answer.epoch, ...place })),
      );
      phone.faults.isOffline = false;
      await reconnects(phone);
      await eventually(() => expect(textsOnServer(server, chat).sort()).toEqual([...all].sort()));
      await waitUntilDeviceSynced(server, tab, chat);
    },
  );

  it("receives the receipts and deletions that it lost", async () => {
    const { server, amina, chat, phone, tab } = await makeCopied();
    await enqueueText(tab, chat, "regretted");
    await waitUntilDeviceSynced(server, tab, chat);
    const copy = server.copy();
    const viewed = new ReadTracker(tab);
    viewed.markRead(chat, 11);
    await viewed.flush();
    await eventually(() => expect(server.log(chat).members.get(amina)).toMatchObject({ read: 11 }));
    await deleteMessageBySeq(tab, chat, 12);
    await eventually(() => expect(server.log(chat).messages[11]?.body.type).toBe("deleted"));
    await waitUntilDeviceSynced(server, tab, chat);
    await restore(phone, copy);
    expect(server.log(chat).messages[11]?.body.type).toBe("text");
    await reconnects(phone);
    await eventually(() => expect(server.log(chat).messages[11]?.body.type).toBe("deleted"));
    await eventually(() => expect(server.log(chat).members.get(amina)).toMatchObject({ read: 11 }));
    expect((await listConversations(tab))[0]).toMatchObject({ unread: 0 });
  });

  it("assigns a handle to another conversation without confusing the two", async () => {
    const { server, amina, phone, tab, copy, benoit, chat } = await makeCopied();
    const [chantal, daniel] = [server.addPerson("Chantal"), server.addPerson("Daniel")];
    const lost = server.connect(amina, chantal);
    server.sendTexts(chantal, lost, "from Chantal");
    await waitUntilDeviceSynced(server, tab, lost);
    phone.faults.isOffline = true;
    await restore(phone, copy);
    const next = server.connect(amina, daniel);
    phone.faults.isOffline = false;
    await reconnects(phone);
    server.sendTexts(daniel, next, "from Daniel");
    server.sendTexts(benoit, chat, "from Benoît");
    await waitUntilDeviceSynced(server, tab, next);
    await waitUntilDeviceSynced(server, tab, chat);
    expect(await listTexts(tab, next)).toEqual(["from Daniel"]);
    expect(await listTexts(tab, lost)).toEqual(["from Chantal"]);
  });

  it("has only one log restored: its lost messages are sent again, and nothing else is fetched", async () => {
    const { server, amina, chat, phone, tab, copy, benoit } = await makeCopied();
    const other = server.connect(amina, server.addPerson("Chantal"));
    await enqueueText(tab, other, "elsewhere");
    for (const text of ["lost 1", "lost 2"]) await enqueueText(tab, chat, text);
    await waitUntilDeviceSynced(server, tab, chat);
    await waitUntilDeviceSynced(server, tab, other);
    phone.faults.isOffline = true;
    for (const socket of [...server.inbox(amina).sockets]) socket.end(1006);
    await enqueueText(tab, chat, "waiting");
    const asked = server.executedCommands.length;
    server.restoreLog(chat, copy);
    server.sendTexts(benoit, chat, "his");
    phone.faults.isOffline = false;
    await reconnects(phone);
    const all = [...numbered(1, 11), "his", "lost 1", "lost 2", "waiting"];
    await eventually(() => expect(textsOnServer(server, chat).sort()).toEqual(all.sort()));
    await waitUntilDeviceSynced(server, tab, chat);
    const pages = server.executedCommands.slice(asked).filter(({ command }) => command.type === "page");
    expect(pages.map(({ command }) => "conversation" in command && command.conversation)).not.toContain(other);
  });

  it("is noticed by an older page that another tab requested, before the log's notice has arrived", async () => {
    const { server, chat, phone } = await makeCopied(100);
    const other = await phone.openTab();
    expect((await listTexts(other, chat)).length).toBeLessThan(100);
    const log = server.log(chat);
    server.logs.set(chat, { ...log, epoch: "restored", messages: log.messages.slice(0, 90) });
    await fetchOlderMessages(other, chat);
    await eventually(async () => expect((await listTexts(other, chat)).at(-1)).toBe("m90"));
  });

  it("sends a message whose acknowledgement names another log again, after those that were lost", async () => {
    const { server, amina, chat, phone, tab, copy } = await makeCopied();
    for (const text of ["lost 1", "lost 2"]) await enqueueText(tab, chat, text);
    await waitUntilDeviceSynced(server, tab, chat);
    phone.faults.isOffline = true;
    await enqueueText(tab, chat, "waiting");
    server.restoreLog(chat, copy);
    const [waiting] = listOutbox(tab.unsent);
    if (waiting?.body.type !== "text") throw new Error("nothing waits");
    const { cid, body } = waiting;
    const answer = server.execute(amina, { type: "multicast", body, to: [{ cid, conversation: chat }] });
    if (isRefusal(answer)) throw new Error(answer.error);
    await applyServerChanges(
      getContext(tab),
      answer.sent.map((place) => ({ type: "sent", ...place })),
    );
    expect(listOutbox(tab.unsent).map((row) => row.cid)).toEqual([cid]);
    phone.faults.isOffline = false;
    await reconnects(phone);
    const all = [...numbered(1, 11), "waiting", "lost 1", "lost 2"];
    await eventually(() => expect(textsOnServer(server, chat)).toEqual(all));
    await waitUntilDeviceSynced(server, tab, chat);
    expect(listOutbox(tab.unsent)).toEqual([]);
  });

  it("may write in a conversation that was connected after the copy and is not on the server any more", async () => {
    const { server, amina, phone, tab, copy } = await makeCopied();
    const chantal = server.addPerson("Chantal");
    const lost = server.connect(amina, chantal);
    server.sendTexts(chantal, lost, "from Chantal");
    await waitUntilDeviceSynced(server, tab, lost);
    await restore(phone, copy);
    await reconnects(phone);
    await enqueueText(tab, lost, "answer");
    await eventually(() => expect(listOutbox(tab.unsent)).toMatchObject([{ state: "failed" }]));
    expect(await listShown(tab, lost)).toEqual(["from Chantal", "answer failed"]);
  });

  it("is not requested endlessly if every answer differs", async () => {
    const { server, benoit, chat, phone, tab } = await makeCopied();
    const execute = server.execute.bind(server);
    server.execute = ((user, command, source) => {
      const answer = execute(user, command, source);
      return command.type === "page" ? { ...answer, epoch: `e${server.executedCommands.length}` } : answer;
    }) as typeof server.execute;
    const before = server.executedCommands.length;
    server.restore({ ...server.copy() });
    for (let i = 0; i < 5; i++) server.sendTexts(benoit, chat, createUuid());
    await reconnects(phone);
    await phone.pass(60_000);
    expect(server.executedCommands.slice(before).filter(({ command }) => command.type === "page").length).toBeLessThan(
      12,
    );
    expect(await listTexts(tab, chat)).not.toEqual([]);
  });
});
