import { describe, expect, it } from "vitest";
import type { ConversationId, Uuid } from "#contract/ids.ts";
import { messagePageRows } from "#contract/limits/conversations.ts";
import { UnsentJournal } from "#lib/unsent/unsent-journal.ts";
import { deleteMessageBySeq } from "#sync/commands/conversation-commands.ts";
import { TextDrafts } from "#sync/drafts/text-drafts.ts";
import type { SyncClient } from "#sync/engine/sync-client.ts";
import { fetchQuotedMessage, readQuotedMessage } from "#sync/inbound/quoted-message.ts";
import { readChat } from "#sync/queries/chat-messages.ts";
import { discardUnsentMessage } from "#sync/sending/discard-message.ts";
import { enqueueText } from "#sync/sending/enqueue.ts";
import { enqueueForward } from "#sync/sending/multicast.ts";
import type { ReplyTarget } from "#sync/unsent/draft-row.ts";
import { listOutbox } from "#sync/unsent/messages.ts";
import { eventually } from "#tests/support/model/eventually.ts";
import { expectSynced, getContext, waitUntilDeviceSynced } from "#tests/support/model/model-checks.ts";
import { makeDevice, makePair } from "#tests/support/model/model-fixtures.ts";
import type { ModelServer } from "#tests/support/model/model-server.ts";

const reply = (tab: SyncClient, chat: ConversationId, text: string, target: ReplyTarget | undefined) =>
  enqueueText(tab, chat, text, { target });
/** Text of each message with the seq it answers. */
const listReplies = (server: ModelServer, chat: ConversationId) =>
  server.log(chat).messages.map(({ body }) => (body.type === "text" ? [body.text, body.reply ?? 0] : [body.type, 0]));
const findUnsent = async (tab: SyncClient, text: string): Promise<Uuid> => {
  const rows = listOutbox(tab.unsent);
  const row = rows.find(({ body }) => body.type === "text" && body.text === text);
  if (!row) throw new Error(`${text} is not in the outbox`);
  return row.cid;
};
const makeOffline = async () => {
  const pair = makePair();
  const phone = makeDevice(pair.server, pair.amina);
  phone.faults.isOffline = true;
  return { ...pair, phone, tab: await phone.openTab() };
};

describe("a reply", () => {
  it("to an own message that is still unsent follows it, in order, also if the tab is killed before", async () => {
    const { server, chat, phone, tab } = await makeOffline();
    await enqueueText(tab, chat, "un");
    await enqueueText(tab, chat, "deux");
    await reply(tab, chat, "à un", await findUnsent(tab, "un"));
    await reply(tab, chat, "à la réponse", await findUnsent(tab, "à un"));
    await enqueueText(tab, chat, "fin");
    const { items } = await readChat(getContext(tab), chat, messagePageRows);
    expect(items.map(({ replyTo }) => replyTo !== undefined)).toEqual([false, true, true, false, false]);
    await phone.kill(tab);
    phone.faults.isOffline = false;
    const next = await phone.openTab();
    await waitUntilDeviceSynced(server, next, chat);
    expect(listReplies(server, chat)).toEqual([
      ["un", 0],
      ["deux", 0],
      ["à un", 1],
      ["à la réponse", 3],
      ["fin", 0],
    ]);
    await expectSynced(server, next, chat);
  });

  it("is sent by HTTP after its target as well", async () => {
    const { server, amina, chat } = makePair();
    const phone = makeDevice(server, amina);
    phone.faults.noUpgrade = true;
    const tab = await phone.openTab();
    await enqueueText(tab, chat, "un");
    await reply(tab, chat, "à un", await findUnsent(tab, "un"));
    await eventually(() =>
      expect(listReplies(server, chat)).toEqual([
        ["un", 0],
        ["à un", 1],
      ]),
    );
  });

  it("to a message that was discarded before it was sent is an ordinary message", async () => {
    const { server, chat, phone, tab } = await makeOffline();
    await enqueueText(tab, chat, "à oublier");
    const target = await findUnsent(tab, "à oublier");
    await reply(tab, chat, "seul", target);
    await discardUnsentMessage(tab, target);
    expect(await readQuotedMessage(getContext(tab), chat, target)).toEqual({ state: "unavailable" });
    phone.faults.isOffline = false;
    phone.wake();
    await waitUntilDeviceSynced(server, tab, chat);
    expect(listReplies(server, chat)).toEqual([["seul", 0]]);
  });

  it("to a message that was sent while it was written names its seq", async () => {
    const { server, chat, phone, tab } = await makeOffline();
    await enqueueText(tab, chat, "un");
    const target = await findUnsent(tab, "un");
    phone.faults.isOffline = false;
    phone.wake();
    await waitUntilDeviceSynced(server, tab, chat);
    await reply(tab, chat, "à un", target);
    await waitUntilDeviceSynced(server, tab, chat);
    expect(listReplies(server, chat)).toEqual([
      ["un", 0],
      ["à un", 1],
    ]);
  });

  it("that only the journal holds keeps its target", async () => {
    const { server, amina, benoit, chat, phone, tab } = await makeOffline();
    server.sendTexts(benoit, chat, "question");
    const cid = "0199aaaa-0000-7000-8000-000000000001";
    const body = { type: "text", text: "réponse", reply: 1 } as const;
    const row = { cid, conversation: chat, body, order: 1, createdAt: 1, at: 1, state: "queued", attempts: 0 };
    await phone.kill(tab);
    new UnsentJournal(amina, phone.localStorage, "left").write({ table: "outbox", key: cid, row, at: 1 });
    phone.faults.isOffline = false;
    const next = await phone.openTab();
    await waitUntilDeviceSynced(server, next, chat);
    expect(listReplies(server, chat)).toEqual([
      ["question", 0],
      ["réponse", 1],
    ]);
  });

  it("is not a reply in the conversation that it is forwarded to", async () => {
    const { server, amina, benoit, chat } = makePair();
    const tab = await makeDevice(server, amina).openTab();
    server.sendTexts(benoit, chat, "question");
    await waitUntilDeviceSynced(server, tab, chat);
    await reply(tab, chat, "réponse", 1);
    await waitUntilDeviceSynced(server, tab, chat);
    const { items } = await readChat(getContext(tab), chat, 1);
    if (!items[0]) throw new Error("no reply");
    await enqueueForward(tab, chat, items[0], [chat]);
    await waitUntilDeviceSynced(server, tab, chat);
    expect(listReplies(server, chat).at(-1)).toEqual(["réponse", 0]);
  });

  it("to messages that a restored server lost names those that are sent again, and no other", async () => {
    const { server, amina, benoit, chat } = makePair();
    const phone = makeDevice(server, amina);
    const tab = await phone.openTab();
    server.sendTexts(benoit, chat, "m1", "m2");
    await waitUntilDeviceSynced(server, tab, chat);
    const copy = server.copy();
    server.sendTexts(benoit, chat, "perdu");
    await waitUntilDeviceSynced(server, tab, chat);
    await enqueueText(tab, chat, "à moi");
    await waitUntilDeviceSynced(server, tab, chat);
    await reply(tab, chat, "à perdu", 3);
    await reply(tab, chat, "à à moi", 4);
    await reply(tab, chat, "à m1", 1);
    await waitUntilDeviceSynced(server, tab, chat);
    await phone.pass(1_000);
    server.restore(copy);
    phone.wake();
    await eventually(() =>
      expect(listReplies(server, chat)).toEqual([
        ["m1", 0],
        ["m2", 0],
        ["à moi", 0],
        ["à perdu", 0],
        ["à à moi", 3],
        ["à m1", 1],
      ]),
    );
  });
});

describe("the draft of a reply", () => {
  it("is shared by tabs, survives a reload, and ends when it is sent", async () => {
    const { server, chat, phone, tab } = await makeOffline();
    const drafts = new TextDrafts(tab);
    drafts.setReply(chat, 7);
    expect(new TextDrafts(await phone.openTab()).findReply(chat)).toBe(7);
    await phone.kill(tab);
    const next = await phone.openTab();
    const restored = new TextDrafts(next);
    expect(restored.findReply(chat)).toBe(7);
    await restored.send(chat, "réponse");
    expect(restored.findReply(chat)).toBeUndefined();
    expect(listOutbox(next.unsent)[0]?.body).toEqual({
      type: "text",
      text: "réponse",
      reply: 7,
    });
    expect(server.log(chat).messages).toEqual([]);
  });
});

describe("a quoted message", () => {
  it("that is older than the stored ones is fetched once, and is deleted here when it is deleted for everyone", async () => {
    const { server, amina, benoit, chat } = makePair();
    server.sendTexts(benoit, chat, "ancien", ...Array.from({ length: 3 * messagePageRows }, (_, n) => `m${n}`));
    const tab = await makeDevice(server, amina).openTab();
    const others = await makeDevice(server, benoit).openTab();
    await waitUntilDeviceSynced(server, tab, chat);
    const { store } = getContext(tab);
    expect((await store.conversations.get(chat))?.storedFrom).toBeGreaterThan(1);
    expect(await readQuotedMessage(getContext(tab), chat, 1)).toEqual({ state: "absent" });
    expect(await fetchQuotedMessage(tab, chat, 1)).toBe(true);
    expect(await readQuotedMessage(getContext(tab), chat, 1)).toMatchObject({
      state: "found",
      body: { text: "ancien" },
      mine: false,
    });
    expect((await readChat(getContext(tab), chat, 1_000)).items.map(({ seq }) => seq)).not.toContain(1);
    await waitUntilDeviceSynced(server, others, chat);
    await deleteMessageBySeq(others, chat, 1);
    await eventually(async () =>
      expect(await readQuotedMessage(getContext(tab), chat, 1)).toMatchObject({
        state: "found",
        body: { type: "deleted" },
      }),
    );
  });

  it("of a cleared history is not shown, nor one that the server does not have", async () => {
    const { server, amina, benoit, chat } = makePair();
    server.sendTexts(benoit, chat, "un", "deux");
    const tab = await makeDevice(server, amina).openTab();
    await waitUntilDeviceSynced(server, tab, chat);
    const { store } = getContext(tab);
    await store.conversations.update(chat, { hidden: 1 });
    expect(await readQuotedMessage(getContext(tab), chat, 1)).toMatchObject({
      state: "unavailable",
      isDeletedByMe: true,
    });
    expect(await readQuotedMessage(getContext(tab), chat, 2)).toMatchObject({ state: "found" });
    expect(await readQuotedMessage(getContext(tab), chat, 9)).toEqual({ state: "absent" });
  });
});
