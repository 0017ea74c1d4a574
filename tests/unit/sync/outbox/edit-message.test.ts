import { afterEach, describe, expect, it, vi } from "vitest";
import type { ConversationId, Uuid } from "#contract/ids.ts";
import { editWindowMs } from "#contract/limits/messages.ts";
import { type Body, withText } from "#contract/messages/body.ts";
import { isRefusal } from "#contract/wire/commands.ts";
import { deleteMessageBySeq } from "#sync/commands/conversation-commands.ts";
import { readUnsentSummary } from "#sync/drafts/unsent-summary.ts";
import type { SyncClient } from "#sync/engine/sync-client.ts";
import { applyServerChanges } from "#sync/inbound/apply/apply-server-changes.ts";
import { discardEdit, editOwnMessage } from "#sync/operations/edit-message.ts";
import { readChat } from "#sync/queries/chat-messages.ts";
import { discardUnsentMessage } from "#sync/sending/discard-message.ts";
import { enqueueText } from "#sync/sending/enqueue.ts";
import { enqueueForward } from "#sync/sending/multicast.ts";
import { deleteAllButUnsent } from "#sync/store/open-database.ts";
import { findDraft } from "#sync/unsent/drafts.ts";
import { edits } from "#sync/unsent/operations.ts";
import { eventually } from "#tests/support/model/eventually.ts";
import { getContext, listConversations, listTexts, waitUntilDeviceSynced } from "#tests/support/model/model-checks.ts";
import type { ModelDevice } from "#tests/support/model/model-device.ts";
import { makeDevice, makePair } from "#tests/support/model/model-fixtures.ts";
import type { ModelServer } from "#tests/support/model/model-server.ts";

afterEach(() => {
  vi.restoreAllMocks();
});

const loseNetwork = async (phone: ModelDevice): Promise<void> => {
  phone.faults.isOffline = true;
  for (const socket of phone.server.inbox(phone.user).sockets) socket.end(1006);
  for (const tab of phone.tabs) await eventually(() => expect(tab.link.get()).not.toBe("online"));
};
/** Brings the network back after the requests made without it have failed. */
const findNetwork = async (phone: ModelDevice): Promise<void> => {
  await new Promise((resolve) => setTimeout(resolve, 30));
  phone.faults.isOffline = false;
  phone.wake();
};

const listPending = (tab: SyncClient) => edits.list(getContext(tab).unsent);
const isConfirmed = (tab: SyncClient) => eventually(async () => expect(await listPending(tab)).toEqual([]));
const readItems = async (tab: SyncClient, chat: ConversationId) =>
  (await readChat(getContext(tab), chat, 100)).items.toReversed();
const findItem = async (tab: SyncClient, chat: ConversationId, seq: number) => {
  const item = (await readItems(tab, chat)).find((one) => one.seq === seq);
  if (!item) throw new Error("no such message");
  return item;
};
const editAt = async (tab: SyncClient, chat: ConversationId, seq: number, text: string) =>
  editOwnMessage(tab, chat, await findItem(tab, chat, seq), text);
const editCommands = (server: ModelServer) =>
  server.executedCommands.flatMap(({ command }) => (command.type === "editMessage" ? command : []));
const bodiesIn = (server: ModelServer, chat: ConversationId) => server.log(chat).messages.map(({ body }) => body);
const editElsewhere = (server: ModelServer, user: Uuid, conversation: ConversationId, target: number, text: string) => {
  const answer = server.execute(user, { type: "editMessage", conversation, target, edit: 0, text });
  if (isRefusal(answer)) throw new Error(answer.error);
};

/** A chat in which she wrote a text, on her phone and on his. */
const makeText = async () => {
  const { server, amina, benoit, chat } = makePair();
  const phone = makeDevice(server, amina);
  const tab = await phone.openTab();
  await enqueueText(tab, chat, "à huit heures");
  await waitUntilDeviceSynced(server, tab, chat);
  const hisTab = await makeDevice(server, benoit).openTab();
  await waitUntilDeviceSynced(server, hisTab, chat);
  return { server, amina, benoit, chat, phone, tab, hisTab };
};

describe("an edit", () => {
  it("shows at once on this device, and on all devices of both people once it is sent", async () => {
    const { server, amina, chat, tab, hisTab } = await makeText();
    const tablet = await makeDevice(server, amina).openTab();
    await waitUntilDeviceSynced(server, tablet, chat);
    await editAt(tab, chat, 1, "  à neuf heures\r\n");
    for (const one of [tab, tablet, hisTab]) {
      await eventually(async () => expect(await listTexts(one, chat)).toEqual(["à neuf heures"]));
      await waitUntilDeviceSynced(server, one, chat);
      expect(await findItem(one, chat, 1)).toMatchObject({ body: { edited: 1 } });
    }
    await isConfirmed(tab);
    expect(await findItem(tab, chat, 1)).not.toHaveProperty("edit");
    expect(editCommands(server)).toHaveLength(1);
  });

  it("made offline is pending in the chat, the list, the other tab and the losses of a sign-out, and is sent later", async () => {
    const { server, chat, phone, tab, hisTab } = await makeText();
    const other = await phone.openTab();
    await loseNetwork(phone);
    await editAt(tab, chat, 1, "à neuf heures");
    await editAt(tab, chat, 1, "à dix heures");
    expect(await readUnsentSummary(getContext(tab))).toMatchObject({ edits: 1 });
    for (const one of [tab, other]) {
      expect(await findItem(one, chat, 1)).toMatchObject({
        edit: "sending",
        body: { text: "à dix heures", edited: 2 },
      });
      expect((await listConversations(one))[0]).toMatchObject({ last: { body: { text: "à dix heures" } } });
    }
    expect(bodiesIn(server, chat)).toEqual([{ type: "text", text: "à huit heures" }]);
    await findNetwork(phone);
    for (const one of [tab, other, hisTab]) await waitUntilDeviceSynced(server, one, chat);
    await isConfirmed(tab);
    await eventually(async () => expect(await listTexts(hisTab, chat)).toEqual(["à dix heures"]));
    expect(editCommands(server)).toHaveLength(1);
  });

  it.each([
    ["the page is killed", false],
    ["the session ends", true],
  ])("made offline is sent though %s before that", async (_, isSignedOut) => {
    const { server, amina, chat, phone, tab } = await makeText();
    await loseNetwork(phone);
    await editAt(tab, chat, 1, "à neuf heures");
    await phone.kill(tab);
    if (isSignedOut) await deleteAllButUnsent(phone.platform(), amina);
    phone.faults.isOffline = false;
    const next = await phone.openTab();
    await eventually(() => expect(bodiesIn(server, chat)).toMatchObject([{ text: "à neuf heures" }]));
    await waitUntilDeviceSynced(server, next, chat);
    await isConfirmed(next);
  });

  it("of a message that another device deletes meanwhile ends, and its words are kept", async () => {
    const { server, amina, chat, phone, tab } = await makeText();
    await loseNetwork(phone);
    await editAt(tab, chat, 1, "à neuf heures");
    server.execute(amina, { type: "deleteForEveryone", conversation: chat, seq: 1 });
    await findNetwork(phone);
    await isConfirmed(tab);
    expect(findDraft(tab.unsent, chat).parked ?? []).toMatchObject([{ text: "à neuf heures" }]);
  });

  it.each([
    [
      "another device deletes",
      (server: ModelServer, user: Uuid, conversation: ConversationId) =>
        server.execute(user, { type: "deleteForEveryone", conversation, seq: 1 }),
    ],
    [
      "another device clears from the history",
      (server: ModelServer, user: Uuid, conversation: ConversationId) =>
        server.execute(user, { type: "clearHistory", conversation, upTo: 1, keep: true }),
    ],
  ])("that was refused ends when its message is one that %s, and its words are kept", async (_, remove) => {
    const { server, amina, chat, tab } = await makeText();
    server.refuse = (_, { type }) => (type === "editMessage" ? { error: "edit_too_late" } : undefined);
    await editAt(tab, chat, 1, "à neuf heures");
    await eventually(async () => expect(await findItem(tab, chat, 1)).toHaveProperty("edit", "edit_too_late"));
    remove(server, amina, chat);
    await isConfirmed(tab);
    expect(findDraft(tab.unsent, chat).parked ?? []).toMatchObject([{ text: "à neuf heures" }]);
    expect(await readUnsentSummary(getContext(tab))).toMatchObject({ edits: 1 });
  });

  it("whose answer was lost is repeated without another change", async () => {
    const { server, chat, phone, tab } = await makeText();
    let losses = 0;
    const { execute } = server;
    vi.spyOn(server, "execute").mockImplementation((user, command, source) => {
      const answer = execute.call(server, user, command, source);
      if ((command as { type: string }).type !== "editMessage" || losses++ > 0) return answer as never;
      return { error: "unavailable" } as never;
    });
    await editAt(tab, chat, 1, "à neuf heures");
    await eventually(async () => expect(losses).toBe(1));
    phone.wake();
    await isConfirmed(tab);
    expect(losses).toBeGreaterThan(1);
    expect(server.log(chat).revision).toBe(1);
    await waitUntilDeviceSynced(server, tab, chat);
  });

  it("to the same text, or of a message of another person, changes nothing", async () => {
    const { server, benoit, chat, tab } = await makeText();
    server.sendTexts(benoit, chat, "de Benoît");
    await waitUntilDeviceSynced(server, tab, chat);
    await editAt(tab, chat, 1, "à huit heures");
    expect(await listPending(tab)).toEqual([]);
    const [theirs] = server.log(chat).messages.slice(1);
    expect(server.execute(benoit, { type: "editMessage", conversation: chat, target: 1, edit: 0, text: "x" })).toEqual({
      error: "not_your_message",
    });
    expect(theirs?.body).toEqual({ type: "text", text: "de Benoît" });
  });

  it("that is empty, too long or too late is refused at once and leaves the message as it is", async () => {
    const { chat, tab } = await makeText();
    await expect(editAt(tab, chat, 1, " ")).rejects.toMatchObject({ code: "empty_message" });
    await expect(editAt(tab, chat, 1, "x".repeat(8_001))).rejects.toMatchObject({ code: "message_too_long" });
    const item = await findItem(tab, chat, 1);
    await getContext(tab).store.messages.update([chat, 1], { at: item.at - editWindowMs - 60_000 });
    await expect(editOwnMessage(tab, chat, item, "trop tard")).rejects.toMatchObject({ code: "edit_too_late" });
    expect(await listPending(tab)).toEqual([]);
    expect(await listTexts(tab, chat)).toEqual(["à huit heures"]);
  });

  it("that the server refuses stays visible with its text and reason, until it is retried or discarded", async () => {
    const { server, chat, tab, hisTab } = await makeText();
    server.refuse = (_, { type }) => (type === "editMessage" ? { error: "edit_too_late" } : undefined);
    await editAt(tab, chat, 1, "à neuf heures");
    await eventually(async () =>
      expect(await findItem(tab, chat, 1)).toMatchObject({ edit: "edit_too_late", body: { text: "à neuf heures" } }),
    );
    expect(await listTexts(hisTab, chat)).toEqual(["à huit heures"]);
    expect(await readUnsentSummary(getContext(tab))).toMatchObject({ edits: 1 });
    await discardEdit(tab, chat, await findItem(tab, chat, 1));
    expect(await findItem(tab, chat, 1)).not.toHaveProperty("edit");
    expect(await listTexts(tab, chat)).toEqual(["à huit heures"]);
    await waitUntilDeviceSynced(server, tab, chat);
    await editAt(tab, chat, 1, "à dix heures");
    await eventually(async () => expect(await findItem(tab, chat, 1)).toHaveProperty("edit", "edit_too_late"));
    server.refuse = () => undefined;
    await editAt(tab, chat, 1, "à dix heures");
    await isConfirmed(tab);
    await waitUntilDeviceSynced(server, tab, chat);
    expect(bodiesIn(server, chat)).toMatchObject([{ text: "à dix heures" }]);
  });
});

describe("an edit of an unsent message", () => {
  it("changes it in place, and nobody sees the former text", async () => {
    const { server, chat, phone, tab, hisTab } = await makeText();
    await loseNetwork(phone);
    await enqueueText(tab, chat, "brouillon");
    const [item] = (await readItems(tab, chat)).filter(({ seq }) => seq === undefined);
    if (!item) throw new Error("not queued");
    await editOwnMessage(tab, chat, item, "au propre");
    expect(await listTexts(tab, chat)).toEqual(["à huit heures", "au propre"]);
    await findNetwork(phone);
    for (const one of [tab, hisTab]) await waitUntilDeviceSynced(server, one, chat);
    await isConfirmed(tab);
    expect(bodiesIn(server, chat)[1]).toEqual({ type: "text", text: "au propre" });
  });

  it("follows by client id if the message had arrived and the page was killed before its acknowledgement", async () => {
    const { server, chat, phone, tab } = await makeText();
    phone.faults.dropAck = 1;
    phone.faults.dropDown = 1;
    await enqueueText(tab, chat, "brouillon");
    await eventually(() => expect(server.log(chat).messages).toHaveLength(2));
    await loseNetwork(phone);
    const [item] = (await readItems(tab, chat)).filter(({ seq }) => seq === undefined);
    if (!item) throw new Error("it was acknowledged");
    await editOwnMessage(tab, chat, item, "au propre");
    await phone.kill(tab);
    Object.assign(phone.faults, { dropAck: 0, dropDown: 0, isOffline: false });
    const next = await phone.openTab();
    await eventually(() => expect(bodiesIn(server, chat)[1]).toMatchObject({ text: "au propre", edited: 1 }));
    await isConfirmed(next);
    await waitUntilDeviceSynced(server, next, chat);
  });

  it("ends when the message is discarded", async () => {
    const { server, chat, phone, tab } = await makeText();
    await loseNetwork(phone);
    await enqueueText(tab, chat, "brouillon");
    const [item] = (await readItems(tab, chat)).filter(({ seq }) => seq === undefined);
    if (!item?.cid) throw new Error("not queued");
    await editOwnMessage(tab, chat, item, "au propre");
    await discardUnsentMessage(tab, item.cid);
    expect(await listPending(tab)).toEqual([]);
    await findNetwork(phone);
    await waitUntilDeviceSynced(server, tab, chat);
    expect(bodiesIn(server, chat)).toHaveLength(1);
  });
});

describe("an edit that meets another change", () => {
  it("ends when the message is deleted on this device", async () => {
    const { server, chat, phone, tab } = await makeText();
    await loseNetwork(phone);
    await editAt(tab, chat, 1, "à neuf heures");
    await deleteMessageBySeq(tab, chat, 1);
    expect(await listPending(tab)).toEqual([]);
    await findNetwork(phone);
    await eventually(() => expect(bodiesIn(server, chat)).toEqual([{ type: "deleted" }]));
    await waitUntilDeviceSynced(server, tab, chat);
  });

  it("and was refused ends with its words when the message is deleted on this device", async () => {
    const { server, chat, tab } = await makeText();
    server.refuse = (_, { type }) => (type === "editMessage" ? { error: "edit_too_late" } : undefined);
    await editAt(tab, chat, 1, "à neuf heures");
    await eventually(async () => expect(await findItem(tab, chat, 1)).toHaveProperty("edit", "edit_too_late"));
    await deleteMessageBySeq(tab, chat, 1);
    await waitUntilDeviceSynced(server, tab, chat);
    expect(await listPending(tab)).toEqual([]);
    expect(findDraft(tab.unsent, chat).parked ?? []).toEqual([]);
  });

  it("ends when the message was deleted on another device", async () => {
    const { server, amina, chat, phone, tab } = await makeText();
    await loseNetwork(phone);
    await editAt(tab, chat, 1, "à neuf heures");
    server.execute(amina, { type: "deleteForEveryone", conversation: chat, seq: 1 });
    await findNetwork(phone);
    await isConfirmed(tab);
    await waitUntilDeviceSynced(server, tab, chat);
    expect(await listTexts(tab, chat)).toEqual(["deleted"]);
  });

  it("of another device wins if it arrives later, and loses if it arrived earlier", async () => {
    const { server, amina, chat, phone, tab, hisTab } = await makeText();
    await loseNetwork(phone);
    await editAt(tab, chat, 1, "du téléphone");
    editElsewhere(server, amina, chat, 1, "de la tablette");
    await findNetwork(phone);
    await isConfirmed(tab);
    for (const one of [tab, hisTab]) await waitUntilDeviceSynced(server, one, chat);
    expect(bodiesIn(server, chat)).toMatchObject([{ text: "du téléphone", edited: 2 }]);
    editElsewhere(server, amina, chat, 1, "encore de la tablette");
    for (const one of [tab, hisTab]) {
      await eventually(async () => expect(await listTexts(one, chat)).toEqual(["encore de la tablette"]));
      await waitUntilDeviceSynced(server, one, chat);
    }
  });

  it("is not undone by a page that was read before it", async () => {
    const { server, chat, tab } = await makeText();
    const { epoch, messages } = server.log(chat);
    const [message] = messages;
    if (!message) throw new Error("no message");
    const before = { ...message, body: { ...message.body } as Body };
    await editAt(tab, chat, 1, "à neuf heures");
    await isConfirmed(tab);
    await waitUntilDeviceSynced(server, tab, chat);
    const { cid, seq, sender, at, body } = before;
    const page = { epoch, head: 1, messages: [{ cid, seq, sender, at, body }], more: false };
    const request = { conversation: chat, direction: "after", seq: 0, head: 1, revised: 0 } as const;
    await applyServerChanges(getContext(tab), [{ type: "page", request, page }]);
    expect(await listTexts(tab, chat)).toEqual(["à neuf heures"]);
    expect((await listConversations(tab))[0]).toMatchObject({ last: { body: { text: "à neuf heures" } } });
  });

  it("does not change a forwarded copy", async () => {
    const { server, benoit, chat, hisTab, tab } = await makeText();
    const chantal = server.addPerson("Chantal");
    const other = server.connect(benoit, chantal);
    await waitUntilDeviceSynced(server, hisTab, other);
    await enqueueForward(hisTab, chat, await findItem(hisTab, chat, 1), [other]);
    await eventually(() => expect(server.log(other).messages).toHaveLength(1));
    await editAt(tab, chat, 1, "à neuf heures");
    await eventually(async () => expect(await listTexts(hisTab, chat)).toEqual(["à neuf heures"]));
    await enqueueForward(hisTab, chat, await findItem(hisTab, chat, 1), [other]);
    await eventually(() => expect(server.log(other).messages).toHaveLength(2));
    const copies = bodiesIn(server, other);
    expect(copies.map((body) => ("text" in body ? body.text : ""))).toEqual(["à huit heures", "à neuf heures"]);
    for (const body of copies) expect(body).not.toHaveProperty("edited");
  });

  it("of a message that is not on this device refreshes the conversation list, and is fetched with the message", async () => {
    const { server, amina, benoit, chat } = makePair();
    server.sendTexts(amina, chat, ...Array.from({ length: 20 }, (_, n) => `m${n + 1}`));
    const tab = await makeDevice(server, benoit).openTab();
    await eventually(async () =>
      expect((await listConversations(tab))[0]).toMatchObject({ last: { body: { text: "m20" } } }),
    );
    editElsewhere(server, amina, chat, 20, "m20 bis");
    await eventually(async () =>
      expect((await listConversations(tab))[0]).toMatchObject({ last: { body: { text: "m20 bis", edited: 1 } } }),
    );
    tab.prioritizeConversation(chat);
    await waitUntilDeviceSynced(server, tab, chat);
  });
});

describe("another text of a body", () => {
  const caption: Body = {
    type: "file",
    file: "f",
    name: "n.pdf",
    mime: "application/pdf",
    size: 1,
    text: "a",
    reply: 3,
  };
  it("keeps everything but text, mentions and edit number", () => {
    const text: Body = { type: "text", text: "@Ana", mentions: [[0, 4, 1]], reply: 2, edited: 1 };
    expect(withText(text as never, "Ana", 2)).toEqual({ type: "text", text: "Ana", reply: 2, edited: 2 });
    const { text: _, ...bare } = caption;
    expect(withText(caption as never, "", 1)).toEqual({ ...bare, edited: 1 });
  });
});
