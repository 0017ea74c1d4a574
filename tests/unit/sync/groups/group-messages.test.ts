import { describe, expect, it } from "vitest";
import { listNamedMembers } from "#components/messages/member-names.ts";
import type { ConversationId } from "#contract/ids.ts";
import { deleteMessageBySeq } from "#sync/commands/conversation-commands.ts";
import type { SyncClient } from "#sync/engine/sync-client.ts";
import { ReadTracker } from "#sync/inbound/read-tracker.ts";
import { readChat } from "#sync/queries/chat-messages.ts";
import { readConversation } from "#sync/queries/conversation.ts";
import { readWindowAround } from "#sync/queries/message-window.ts";
import { enqueueText } from "#sync/sending/enqueue.ts";
import { enqueueBroadcast, enqueueForward } from "#sync/sending/multicast.ts";
import { eventually } from "#tests/support/model/eventually.ts";
import {
  findListRow,
  getContext,
  listShown,
  listTexts,
  waitUntilDeviceSynced,
} from "#tests/support/model/model-checks.ts";
import { makeDevice, makeGroup } from "#tests/support/model/model-fixtures.ts";
import { makePicture, sendFiles } from "#tests/support/model/outgoing-files.ts";

const viewAll = async (tab: SyncClient, chat: ConversationId, seq: number) => {
  const viewed = new ReadTracker(tab);
  viewed.markRead(chat, seq);
  await viewed.flush();
};

const itemIn = async (tab: SyncClient, chat: ConversationId, seq: number) => {
  const { items } = await readChat(getContext(tab), chat, 100);
  const item = items.find((one) => one.seq === seq);
  if (!item) throw new Error("no such message here");
  return item;
};

describe("messages in a group", () => {
  it("reach everybody, are own messages on each of the author's devices, and get their ticks when all received and read them", async () => {
    const { server, amina, benoit, chantal, group } = makeGroup();
    const phone = await makeDevice(server, amina).openTab();
    const laptop = await makeDevice(server, amina).openTab();
    const benoitTab = await makeDevice(server, benoit).openTab();
    for (const tab of [phone, laptop, benoitTab]) await waitUntilDeviceSynced(server, tab, group);
    await enqueueText(phone, group, "supper at seven");
    // Once written it is being sent: an answer follows the read message.
    await eventually(async () => expect(await listTexts(benoitTab, group)).toContain("supper at seven"));
    await enqueueText(benoitTab, group, "I come");
    for (const tab of [phone, laptop]) {
      await eventually(async () =>
        expect(await listShown(tab, group)).toEqual([
          expect.stringMatching(/^event /),
          "supper at seven sent",
          "I come",
        ]),
      );
      await waitUntilDeviceSynced(server, tab, group);
      expect(await itemIn(tab, group, 2)).toMatchObject({ mine: true, sender: 0 });
      expect(await itemIn(tab, group, 3)).toMatchObject({ mine: false, sender: 1 });
    }
    const chantalTab = await makeDevice(server, chantal).openTab();
    await waitUntilDeviceSynced(server, chantalTab, group);
    await eventually(async () => expect(await itemIn(laptop, group, 2)).toMatchObject({ status: "delivered" }));
    await viewAll(benoitTab, group, 3);
    await eventually(() => expect(server.log(group).members.get(benoit)).toMatchObject({ read: 2 }));
    expect(await itemIn(laptop, group, 2)).toMatchObject({ status: "delivered" });
    await viewAll(chantalTab, group, 3);
    for (const tab of [phone, laptop])
      await eventually(async () => expect(await itemIn(tab, group, 2)).toMatchObject({ status: "read" }));
    for (const tab of [phone, laptop, benoitTab, chantalTab]) await waitUntilDeviceSynced(server, tab, group);
  });

  it("of the system are read without counting as unread, with the people they name, and have no ticks", async () => {
    const { server, amina, benoit, chantal, group } = makeGroup();
    const aminaTab = await makeDevice(server, amina).openTab();
    const benoitTab = await makeDevice(server, benoit).openTab();
    for (const tab of [aminaTab, benoitTab]) await waitUntilDeviceSynced(server, tab, group);
    server.sendTexts(amina, group, "one to read");
    server.changeGroup(amina, group, { type: "rename", name: "Cousins" });
    server.changeGroup(amina, group, { type: "remove", user: chantal });
    for (const tab of [aminaTab, benoitTab]) await waitUntilDeviceSynced(server, tab, group);
    expect(await findListRow(benoitTab, group)).toMatchObject({
      kind: "group",
      unread: 1,
      group: { name: "Cousins", count: 2, role: "member", number: 1 },
      last: { body: { type: "event", event: "removed", who: [2] }, sender: 0, mine: false },
    });
    const { last, group: card } = (await findListRow(aminaTab, group)) ?? {};
    expect(card).toMatchObject({ role: "owner", number: 0 });
    expect(last).toMatchObject({ mine: true });
    expect(last).not.toHaveProperty("status");
    expect(listNamedMembers(last ?? { body: null })).toEqual([0, 2]);
    expect(await itemIn(benoitTab, group, 1)).toMatchObject({
      mine: false,
      body: { event: "created", name: "Famille" },
    });
    await viewAll(benoitTab, group, 4);
    await eventually(async () => expect(await findListRow(benoitTab, group)).toMatchObject({ unread: 0 }));
    await waitUntilDeviceSynced(server, benoitTab, group);
  });

  it("have an exact unread count whether they are pushed, loaded as a page, or follow a system message", async () => {
    const { server, amina, benoit, chantal, group } = makeGroup();
    const phone = makeDevice(server, amina);
    const tab = await phone.openTab();
    await waitUntilDeviceSynced(server, tab, group);
    phone.faults.dropDown = 1;
    server.sendTexts(benoit, group, "a", "b");
    server.changeGroup(amina, group, { type: "rename", name: "Cousins" });
    phone.faults.dropDown = 0;
    server.sendTexts(chantal, group, "c");
    server.changeGroup(amina, group, { type: "picture", key: "picture" });
    await waitUntilDeviceSynced(server, tab, group);
    expect(await findListRow(tab, group)).toMatchObject({ unread: 3 });
    await phone.close(tab);
    server.sendTexts(benoit, group, ...Array.from({ length: 60 }, (_, i) => `m${i}`));
    server.changeGroup(amina, group, { type: "rename", name: "Famille" });
    const again = await phone.openTab();
    again.prioritizeConversation(group);
    await waitUntilDeviceSynced(server, again, group);
    expect(await findListRow(again, group)).toMatchObject({ unread: 63 });
    await viewAll(again, group, server.log(group).messages.length);
    await eventually(async () => expect(await findListRow(again, group)).toMatchObject({ unread: 0 }));
    await waitUntilDeviceSynced(server, again, group);
  });

  it("of the user are own messages on a page far from the newest too, with system messages among them", async () => {
    const { server, amina, benoit, group } = makeGroup();
    server.sendTexts(amina, group, "mine");
    server.sendTexts(benoit, group, ...Array.from({ length: 90 }, (_, i) => `m${i}`));
    const tab = await makeDevice(server, amina).openTab();
    await waitUntilDeviceSynced(server, tab, group);
    const { items } = await readWindowAround(tab, group, 2);
    expect(items.filter(({ mine }) => mine).map(({ seq }) => seq)).toEqual([2, 1]);
  });

  it("are tombstones on every member's phone when deleted", async () => {
    const { server, amina, benoit, group } = makeGroup();
    const aminaTab = await makeDevice(server, amina).openTab();
    const benoitTab = await makeDevice(server, benoit).openTab();
    await enqueueText(aminaTab, group, "regretted");
    for (const tab of [aminaTab, benoitTab])
      await eventually(async () => expect((await listTexts(tab, group)).at(-1)).toBe("regretted"));
    await deleteMessageBySeq(aminaTab, group, 2);
    for (const tab of [aminaTab, benoitTab]) {
      await waitUntilDeviceSynced(server, tab, group);
      expect((await listTexts(tab, group)).at(-1)).toBe("deleted");
    }
    expect(await findListRow(benoitTab, group)).toMatchObject({ unread: 0 });
  });

  it("show several people typing by number, and end the typing of their sender", async () => {
    const { server, amina, benoit, chantal, group } = makeGroup();
    const tab = await makeDevice(server, amina).openTab();
    await waitUntilDeviceSynced(server, tab, group);
    const typists = () => tab.typing.members.get().get(group) ?? [];
    server.sendTyping(benoit, group);
    await eventually(() => expect(typists()).toEqual([1]));
    server.sendTyping(chantal, group);
    await eventually(() => expect(typists()).toEqual([1, 2]));
    server.sendTexts(benoit, group, "said");
    await eventually(() => expect(typists()).toEqual([2]));
  });

  it("can be sent with a picture to a group and a person together, and forwarded from a group with their author", async () => {
    const { server, amina, benoit, chantal, group, withBenoit } = makeGroup();
    const aminaTab = await makeDevice(server, amina).openTab();
    const benoitTab = await makeDevice(server, benoit).openTab();
    for (const tab of [aminaTab, benoitTab]) await waitUntilDeviceSynced(server, tab, group);
    await enqueueBroadcast(aminaTab, [group, withBenoit], "to all");
    await sendFiles(aminaTab, group, makePicture(3_000, "us"));
    await waitUntilDeviceSynced(server, aminaTab, withBenoit);
    await eventually(() => expect(server.log(group).messages).toHaveLength(3));
    server.sendTexts(chantal, group, "from Chantal");
    for (const tab of [aminaTab, benoitTab]) await waitUntilDeviceSynced(server, tab, group);
    // He has no contact of that name: his phone requests the person.
    await enqueueForward(benoitTab, group, await itemIn(benoitTab, group, 4), [withBenoit]);
    await enqueueForward(benoitTab, group, await itemIn(benoitTab, group, 3), [withBenoit]);
    await waitUntilDeviceSynced(server, aminaTab, withBenoit);
    await eventually(() =>
      expect(
        server
          .log(withBenoit)
          .messages.slice(1)
          .map(({ body }) => body),
      ).toMatchObject([
        { type: "text", text: "from Chantal", forwarded: { by: chantal, name: "Chantal" } },
        { type: "image", text: "us", forwarded: { by: amina, name: "Amina" } },
      ]),
    );
    await expect(
      enqueueForward(benoitTab, group, await itemIn(benoitTab, group, 1), [withBenoit]),
    ).rejects.toMatchObject({
      code: "original_gone",
    });
    expect(await readConversation(getContext(benoitTab), group)).toMatchObject({
      kind: "group",
      gone: false,
    });
  });

  it("are exchanged by HTTP without sockets", async () => {
    const { server, amina, benoit, chantal, group } = makeGroup();
    const phone = makeDevice(server, amina);
    phone.faults.noUpgrade = true;
    const tab = await phone.openTab();
    await waitUntilDeviceSynced(server, tab, group);
    await enqueueText(tab, group, "hello");
    server.sendTexts(benoit, group, "hi");
    server.changeGroup(amina, group, { type: "remove", user: chantal });
    await waitUntilDeviceSynced(server, tab, group);
    expect(await listTexts(tab, group)).toEqual(["event", expect.anything(), expect.anything(), expect.anything()]);
    expect(await findListRow(tab, group)).toMatchObject({ unread: 1, group: { count: 2 } });
    server.changeGroup(amina, group, { type: "end" });
    await eventually(async () => expect(await findListRow(tab, group)).toBeUndefined());
  });
});
