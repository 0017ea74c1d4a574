import { describe, expect, it, test } from "vitest";
import type { ConversationId } from "#contract/ids.ts";
import { mentionsMax } from "#contract/limits/groups.ts";
import { findMentions } from "#contract/messages/mentions.ts";
import { deleteMessageBySeq, setConversationMuted } from "#sync/commands/conversation-commands.ts";
import type { SyncClient } from "#sync/engine/sync-client.ts";
import { ReadTracker } from "#sync/inbound/read-tracker.ts";
import { readChat } from "#sync/queries/chat-messages.ts";
import { readConversation } from "#sync/queries/conversation.ts";
import { enqueueText } from "#sync/sending/enqueue.ts";
import { findNamedMentions, rememberMentionedMember } from "#sync/sending/mentions/named-mentions.ts";
import { enqueueBroadcast, enqueueForward } from "#sync/sending/multicast.ts";
import { toMembersVersionKey } from "#sync/store/database.ts";
import { eventually } from "#tests/support/model/eventually.ts";
import { getContext, waitUntilDeviceSynced } from "#tests/support/model/model-checks.ts";
import { makeDevice, makeGroup } from "#tests/support/model/model-fixtures.ts";

describe("mentions named in a text", () => {
  const names = [
    { name: "Ana", number: 1 },
    { name: "Ana Banza", number: 2 },
    { name: "tous" },
    { name: "Éric", number: 3 },
  ];
  test.each([
    ["@Ana viens", [[0, 4, 1]]],
    ["@Ana Banza viens", [[0, 10, 2]]],
    ["oui @Ana, @Éric et @tous", [[4, 4, 1], [10, 5, 3], [19, 5]]], // biome-ignore format: one line
    ["@Anatole", []],
    ["@ana", []],
    ["ana@Ana.cd", []],
    ["@Ana@Éric", [[0, 4, 1]]],
    ["(@Ana)", [[1, 4, 1]]],
    ["@ Ana", []],
    ["👍 @Éric", [[3, 5, 3]]],
  ])("%j", (text, mentions) => {
    expect(findNamedMentions(text, names)).toEqual(mentions);
  });

  test("are at most as many as a message may have", () => {
    expect(findNamedMentions("@Ana ".repeat(mentionsMax + 5), names)).toHaveLength(mentionsMax);
  });
});

const setUp = async () => {
  const { server, amina, benoit, chantal, group } = makeGroup();
  const aminaTab = await makeDevice(server, amina).openTab();
  const benoitTab = await makeDevice(server, benoit).openTab();
  for (const tab of [aminaTab, benoitTab]) await waitUntilDeviceSynced(server, tab, group);
  return { server, amina, benoit, chantal, group, aminaTab, benoitTab };
};

/** Stores the current member list of a group. */
const nameMembers = async (tab: SyncClient, group: ConversationId, ...names: string[]) => {
  const { store } = getContext(tab);
  const { group: card } = (await store.conversations.get(group)) ?? {};
  await store.meta.put({ key: toMembersVersionKey(group), value: card?.roster });
  await store.members.bulkPut(
    names.map((username, index) => ({
      conversation: group,
      number: index + 1,
      user: `00000000-0000-7000-8000-00000000000${index}`,
      username,
      phone: "",
      avatar: null,
      createdAt: 0,
      role: "member" as const,
      since: 0,
      left: 0 as const,
      at: Date.now(),
    })),
  );
};
const lastBody = async (tab: SyncClient, chat: ConversationId) => {
  const { items } = await readChat(getContext(tab), chat, 5);
  const body = items[0]?.body;
  if (!body) throw new Error("no message");
  return body;
};
const mentionsIn = async (tab: SyncClient, group: ConversationId) => {
  return (await readConversation(getContext(tab), group)).mentions;
};

describe("mentions in a group", () => {
  it("are listed for the mentioned member until they are read or deleted, on every device", async () => {
    const { server, benoit, group, aminaTab, benoitTab } = await setUp();
    const laptop = await makeDevice(server, benoit).openTab();
    await nameMembers(aminaTab, group, "Benoît");
    await enqueueText(aminaTab, group, "@Benoît un");
    expect(findMentions(await lastBody(aminaTab, group))).toEqual([[0, 7, 1]]);
    await enqueueText(aminaTab, group, "deux");
    await enqueueText(aminaTab, group, "trois @Benoît");
    await enqueueText(aminaTab, group, "@Benoît quatre");
    for (const tab of [benoitTab, laptop])
      await eventually(async () => expect(await mentionsIn(tab, group)).toEqual([2, 4, 5]));
    expect(await mentionsIn(aminaTab, group)).toEqual([]);
    await deleteMessageBySeq(aminaTab, group, 4);
    for (const tab of [benoitTab, laptop])
      await eventually(async () => expect(await mentionsIn(tab, group)).toEqual([2, 5]));
    const viewed = new ReadTracker(benoitTab);
    viewed.markRead(group, 3);
    await viewed.flush();
    expect(await mentionsIn(benoitTab, group)).toEqual([5]);
    await eventually(async () => expect(await mentionsIn(laptop, group)).toEqual([5]));
    const late = await makeDevice(server, benoit).openTab();
    await eventually(async () => expect(await mentionsIn(late, group)).toEqual([5]));
    for (const tab of [aminaTab, benoitTab, laptop, late]) await waitUntilDeviceSynced(server, tab, group);
  });

  it("are found before the message is sent if the device lacks the member list, also after a failure", async () => {
    const { server, amina, benoit, group } = makeGroup();
    const device = makeDevice(server, amina);
    const [aminaTab, benoitTab] = [await device.openTab(), await makeDevice(server, benoit).openTab()];
    for (const tab of [aminaTab, benoitTab]) await waitUntilDeviceSynced(server, tab, group);
    let requests = 0;
    device.shouldLose = ({ path }) => path.includes("/members") && requests++ === 0;
    await enqueueText(aminaTab, group, "@Benoît un, moi@Benoît.cd");
    await enqueueText(aminaTab, group, "deux");
    await eventually(async () => expect(await mentionsIn(benoitTab, group)).toEqual([2]));
    await waitUntilDeviceSynced(server, aminaTab, group);
    const { items } = await readChat(getContext(aminaTab), group, 5);
    expect(items.map(({ body }) => "text" in body && body.text).slice(0, 2)).toEqual([
      "deux",
      "@Benoît un, moi@Benoît.cd",
    ]);
    expect(requests).toBeGreaterThan(1);
  });

  it("mean the chosen one of two members with the same name, and none without a choice", async () => {
    const { group, aminaTab } = await setUp();
    await nameMembers(aminaTab, group, "Jean", "Jean");
    await enqueueText(aminaTab, group, "@Jean un");
    expect(findMentions(await lastBody(aminaTab, group))).toEqual([]);
    rememberMentionedMember(group, "Jean", 2);
    await enqueueText(aminaTab, group, "@Jean deux");
    expect(findMentions(await lastBody(aminaTab, group))).toEqual([[0, 5, 2]]);
  });

  it("of everyone are written by the owner only", async () => {
    const { group, aminaTab, benoitTab } = await setUp();
    for (const tab of [aminaTab, benoitTab]) await nameMembers(tab, group);
    await enqueueText(aminaTab, group, "@tous venez");
    expect(findMentions(await lastBody(aminaTab, group))).toEqual([[0, 5]]);
    await eventually(async () => expect(await mentionsIn(benoitTab, group)).toEqual([2]));
    await enqueueText(benoitTab, group, "@tous non");
    expect(findMentions(await lastBody(benoitTab, group))).toEqual([]);
  });

  it("become plain text in a forward and in a message to many conversations", async () => {
    const { server, amina, benoit, group, aminaTab } = await setUp();
    const other = server.createGroup(amina, "Autre", [benoit]);
    await waitUntilDeviceSynced(server, aminaTab, other);
    await nameMembers(aminaTab, group, "Benoît");
    await nameMembers(aminaTab, other, "Benoît");
    await enqueueText(aminaTab, group, "@Benoît un");
    await waitUntilDeviceSynced(server, aminaTab, group);
    const { items } = await readChat(getContext(aminaTab), group, 5);
    if (!items[0]) throw new Error("no message");
    await enqueueForward(aminaTab, group, items[0], [other]);
    await eventually(async () => expect(await lastBody(aminaTab, other)).toMatchObject({ text: "@Benoît un" }));
    expect(findMentions(await lastBody(aminaTab, other))).toEqual([]);
    await enqueueBroadcast(aminaTab, [group, other], "@Benoît deux");
    for (const id of [group, other])
      expect(await lastBody(aminaTab, id)).toEqual({ type: "text", text: "@Benoît deux" });
  });
});

it("a mute except mentions reaches the person's other devices", async () => {
  const { server, benoit, group, benoitTab } = await setUp();
  const laptop = await makeDevice(server, benoit).openTab();
  const muteIn = async (tab: SyncClient) => {
    const { muted, mutedExceptMentions } = await readConversation(getContext(tab), group);
    return { muted, mutedExceptMentions };
  };
  await setConversationMuted(benoitTab, group, true, { exceptMentions: true });
  for (const tab of [benoitTab, laptop])
    await eventually(async () => expect(await muteIn(tab)).toEqual({ muted: true, mutedExceptMentions: true }));
  await setConversationMuted(laptop, group, true);
  for (const tab of [benoitTab, laptop])
    await eventually(async () => expect(await muteIn(tab)).toEqual({ muted: true, mutedExceptMentions: false }));
});
