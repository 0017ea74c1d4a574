import { describe, expect, it } from "vitest";
import { createUuid } from "#contract/ids.ts";
import { findReplyTarget, parseGroupPlace, toGroupPlace } from "#contract/messages/body.ts";
import { storedBody } from "#contract/wire/compact-encoding.ts";
import { originBase } from "#contract/wire/server-frames.ts";
import { TextDrafts } from "#sync/drafts/text-drafts.ts";
import { fetchQuotedMessage, readQuotedMessage } from "#sync/inbound/quoted-message.ts";
import { readChat } from "#sync/queries/chat-messages.ts";
import { enqueueText, insertUnsentMessages } from "#sync/sending/enqueue.ts";
import { enqueueForward } from "#sync/sending/multicast.ts";
import { getContext, waitUntilDeviceSynced } from "#tests/support/model/model-checks.ts";
import { makeDevice, makeGroup } from "#tests/support/model/model-fixtures.ts";

/** A group with a message 2 of Benoît, and the private chat of Amina, its owner, with him. */
const makeChat = () => {
  const { server, amina, benoit, group } = makeGroup();
  const chat = server.connect(amina, benoit);
  server.sendTexts(benoit, group, "in the group");
  return { server, amina, benoit, group, chat, place: toGroupPlace(group, 2) };
};

describe("a private reply to a message of a group", () => {
  it("is drafted, journaled and sent from offline with the place of the message", async () => {
    const { server, amina, chat, place } = makeChat();
    const phone = makeDevice(server, amina);
    phone.faults.isOffline = true;
    const tab = await phone.openTab();
    const drafts = new TextDrafts(tab);
    drafts.setReply(chat, place);
    expect(new TextDrafts(tab).findReply(chat)).toBe(place);
    await drafts.send(chat, "between us");
    await phone.kill(tab);
    phone.faults.isOffline = false;
    const next = await phone.openTab();
    await waitUntilDeviceSynced(server, next, chat);
    expect(server.log(chat).messages.map(({ body }) => body)).toEqual([
      { type: "text", text: "between us", reply: place },
    ]);
  });

  it("shows what the reader has of the group, and nothing of after they left it", async () => {
    const { server, amina, benoit, group, place } = makeChat();
    const tab = await makeDevice(server, benoit).openTab();
    await waitUntilDeviceSynced(server, tab, group);
    const { store } = getContext(tab);
    const { seq = 0 } = parseGroupPlace(place) ?? {};
    const quoted = { state: "found", mine: true, body: { text: "in the group" } };
    expect(await readQuotedMessage(getContext(tab), group, seq)).toMatchObject(quoted);
    server.changeGroup(amina, group, { type: "remove", user: benoit });
    await expect.poll(async () => (await store.conversations.get(group))?.gone).toBe(true);
    server.sendTexts(amina, group, "without him");
    const last = server.log(group).messages.length;
    await fetchQuotedMessage(tab, group, last).catch(() => undefined);
    expect(await readQuotedMessage(getContext(tab), group, last)).not.toMatchObject({ state: "found" });
  });

  it("is unavailable to a reader whose device does not know the group, without a request", async () => {
    const { server, amina, group, chat } = makeChat();
    const stranger = server.addPerson("Elikia");
    server.connect(amina, stranger);
    const tab = await makeDevice(server, stranger).openTab();
    expect(await readQuotedMessage(getContext(tab), group, 2)).toEqual({ state: "unavailable" });
    expect(chat).not.toBe(group);
  });

  it("loads the newest messages of the group first on a device that has none, then the answered one", async () => {
    const { server, amina, benoit, group } = makeChat();
    server.pageRowsMax = 7;
    server.sendTexts(benoit, group, ...Array.from({ length: 60 }, (_, n) => `more ${n}`));
    const tab = await makeDevice(server, amina).openTab();
    const { store } = getContext(tab);
    await expect.poll(async () => (await store.conversations.get(group))?.epoch ?? "", { interval: 1 }).not.toBe("");
    await store.conversations.update(group, { storedFrom: 1, storedTo: 0 });
    expect(await fetchQuotedMessage(tab, group, 2)).toBe(true);
    expect(await readQuotedMessage(getContext(tab), group, 2)).toMatchObject({
      state: "found",
      body: { text: "in the group" },
    });
  });

  it("keeps its place when its text comes from the journal", async () => {
    const { server, amina, chat, place } = makeChat();
    const phone = makeDevice(server, amina);
    phone.faults.isOffline = true;
    const tab = await phone.openTab();
    const cid = createUuid();
    const body = { type: "text", text: "journaled" } as const;
    await insertUnsentMessages(getContext(tab), [{ cid, conversation: chat, body, target: place }]);
    expect(tab.unsent.find("outbox", cid)).toMatchObject({ body: { ...body, reply: place } });
  });

  it("is an ordinary message when it is forwarded", async () => {
    const { server, amina, group, chat, place } = makeChat();
    const tab = await makeDevice(server, amina).openTab();
    await enqueueText(tab, chat, "between us", { target: place });
    await waitUntilDeviceSynced(server, tab, chat);
    const [item] = (await readChat(getContext(tab), chat, 10)).items;
    if (!item) throw new Error("the reply is missing");
    expect(findReplyTarget(item.body)).toBe(place);
    await enqueueForward(tab, chat, item, [group]);
    await waitUntilDeviceSynced(server, tab, group);
    expect(server.log(group).messages.at(-1)?.body).not.toHaveProperty("reply");
  });

  it("is the text and its place in frames, also when it was edited", () => {
    const { place } = makeChat();
    const body = { type: "text", text: "between us", reply: place } as const;
    expect(storedBody.encode(body, originBase)).toEqual(["between us", place]);
    for (const one of [body, { ...body, edited: 1 }])
      expect(storedBody.decode(storedBody.encode(one, originBase), originBase)).toEqual(one);
  });
});
