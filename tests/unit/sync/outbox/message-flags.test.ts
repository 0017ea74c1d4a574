import { describe, expect, it } from "vitest";
import type { ConversationId, Uuid } from "#contract/ids.ts";
import type { SyncClient } from "#sync/engine/sync-client.ts";
import { deleteMessageForSelf, setMessageStarred } from "#sync/operations/set-message-flags.ts";
import { readChat } from "#sync/queries/chat-messages.ts";
import { readConversations } from "#sync/queries/conversation-list.ts";
import { fetchStarredMessages, readStarredMessages } from "#sync/queries/starred-messages.ts";
import { messageFlags } from "#sync/unsent/operations.ts";
import { eventually } from "#tests/support/model/eventually.ts";
import { getContext, listTexts, waitUntilDeviceSynced } from "#tests/support/model/model-checks.ts";
import { makeDevice } from "#tests/support/model/model-fixtures.ts";
import { ModelServer } from "#tests/support/model/model-server.ts";

/** Positions of the starred messages that the chat shows. */
const listShown = async (tab: SyncClient, id: ConversationId) =>
  (await readChat(getContext(tab), id, 100)).items.flatMap(({ starred, seq }) => (starred ? seq : [])).reverse();
const readList = async (tab: SyncClient) => (await readStarredMessages(getContext(tab), undefined, 10)).messages;
const listSeqs = async (tab: SyncClient) => (await readList(tab)).map(({ seq }) => seq);
const waitUntilSent = (tab: SyncClient) =>
  eventually(async () => expect(messageFlags.list(getContext(tab).unsent)).toEqual([]));

const makePair = async () => {
  const server = new ModelServer();
  const [amina, benoit] = ["Amina", "Benoît"].map((name) => server.addPerson(name)) as [Uuid, Uuid];
  const id = server.connect(amina, benoit);
  server.sendTexts(benoit, id, "un", "deux", "trois");
  const device = makeDevice(server, amina);
  const tab = await device.openTab();
  await waitUntilDeviceSynced(server, tab, id);
  const stored = () => server.listMessageFlags(amina, id);
  return { server, amina, benoit, id, device, tab, stored };
};

describe("a star", () => {
  it("is shown at once without a network, in every tab and after a restart, and sent once there is one", async () => {
    const { id, device, tab, stored } = await makePair();
    device.faults.isOffline = true;
    const other = await device.openTab();
    await setMessageStarred(tab, id, 2, true);
    for (const one of [tab, other]) expect(await listShown(one, id)).toEqual([2]);
    expect(await listSeqs(other)).toEqual([2]);
    await device.kill(tab);
    await device.kill(other);
    const next = await device.openTab();
    expect(await listShown(next, id)).toEqual([2]);
    expect(stored()).toMatchObject({ starred: [] });
    device.faults.isOffline = false;
    device.wake();
    await waitUntilSent(next);
    expect(stored()).toMatchObject({ starred: [{ seq: 2 }] });
    expect(await listShown(next, id)).toEqual([2]);
  });

  it("that was taken back before it was sent leaves nothing, and only the last choice is sent", async () => {
    const { server, id, device, tab, stored } = await makePair();
    device.faults.isOffline = true;
    await setMessageStarred(tab, id, 1, true);
    await setMessageStarred(tab, id, 1, false);
    expect(await listShown(tab, id)).toEqual([]);
    device.faults.isOffline = false;
    device.wake();
    await waitUntilSent(tab);
    expect(stored()).toMatchObject({ revision: 0, starred: [] });
    const sent = server.executedCommands.flatMap(({ command }) => (command.type === "setMessageFlags" ? command : []));
    expect(sent.map(({ starred }) => starred)).toEqual([false]);
  });

  it("reaches another device of the person, live and after it was away, and its removal too", async () => {
    const { server, amina, id, tab } = await makePair();
    const tablet = makeDevice(server, amina);
    const other = await tablet.openTab();
    await waitUntilDeviceSynced(server, other, id);
    await setMessageStarred(tab, id, 2, true);
    await eventually(async () => expect(await listShown(other, id)).toEqual([2]));
    tablet.faults.isOffline = true;
    await setMessageStarred(tab, id, 3, true);
    await waitUntilSent(tab);
    await setMessageStarred(tab, id, 2, false);
    await waitUntilSent(tab);
    tablet.faults.isOffline = false;
    tablet.wake();
    await eventually(async () => expect(await listShown(other, id)).toEqual([3]));
  });

  it("vs. delete: neither the chat nor the list shows a starred message that was deleted for everybody", async () => {
    const { server, benoit, id, device, tab } = await makePair();
    await setMessageStarred(tab, id, 1, true);
    await waitUntilSent(tab);
    server.execute(benoit, { type: "deleteForEveryone", conversation: id, seq: 1 });
    await waitUntilDeviceSynced(server, tab, id);
    expect(await listSeqs(tab)).toEqual([]);
    // The other order: the star is sent after the deletion, which this device does not know.
    device.faults.isOffline = true;
    await setMessageStarred(tab, id, 2, true);
    server.execute(benoit, { type: "deleteForEveryone", conversation: id, seq: 2 });
    device.faults.isOffline = false;
    device.wake();
    await waitUntilSent(tab);
    await waitUntilDeviceSynced(server, tab, id);
    expect(await listSeqs(tab)).toEqual([]);
  });

  it("of cleared messages ends", async () => {
    const { server, amina, id, tab } = await makePair();
    await setMessageStarred(tab, id, 1, true);
    await setMessageStarred(tab, id, 3, true);
    await waitUntilSent(tab);
    server.execute(amina, { type: "clearHistory", conversation: id, upTo: 2, keep: true });
    await eventually(async () => expect(await listSeqs(tab)).toEqual([3]));
  });

  it("that the server refuses is not shown any more", async () => {
    const { server, id, tab } = await makePair();
    server.refuse = (_, command) => (command.type === "setMessageFlags" ? { error: "too_many_starred" } : undefined);
    await setMessageStarred(tab, id, 1, true);
    await waitUntilSent(tab);
    expect(await listShown(tab, id)).toEqual([]);
  });
});

it("the list has the newest star first, and fetches messages that the device does not have", async () => {
  const { server, amina, benoit, id, tab } = await makePair();
  server.sendTexts(benoit, id, ...Array.from({ length: 200 }, (_, index) => `plus ${index}`));
  for (const seq of [190, 2]) server.execute(amina, { type: "setMessageFlags", conversation: id, seq, starred: true });
  const fresh = await makeDevice(server, amina).openTab();
  fresh.prioritizeConversation(id);
  await eventually(async () => expect(await listSeqs(fresh)).toEqual([190, 2]));
  await eventually(async () => expect((await readList(fresh))[0]?.message).toBeDefined());
  const missing = (await readList(fresh)).filter(({ message }) => !message);
  expect(missing.map(({ seq }) => seq)).toEqual([2]);
  await fetchStarredMessages(fresh, missing);
  expect((await readList(fresh))[1]?.message?.body).toMatchObject({ text: "deux" });
  expect(await listSeqs(tab)).toHaveLength(2);
});

describe("a message deleted for oneself", () => {
  const readPreview = async (tab: SyncClient, _me: Uuid) => {
    const [item] = (await readConversations(getContext(tab), 10)) ?? [];
    return item?.last.body;
  };
  const listStoredTexts = async (tab: SyncClient, id: ConversationId) =>
    JSON.stringify(await getContext(tab).store.queryMessages(id, 0).toArray());

  it("leaves nothing on this device at once without a network, and on the server's answer later", async () => {
    const { server, amina, benoit, id, device, tab, stored } = await makePair();
    await setMessageStarred(tab, id, 3, true);
    await waitUntilSent(tab);
    device.faults.isOffline = true;
    await deleteMessageForSelf(tab, id, 3);
    const other = await device.openTab();
    for (const one of [tab, other]) {
      expect(await listTexts(one, id)).toEqual(["un", "deux"]);
      expect(await readPreview(one, amina)).toMatchObject({ text: "deux" });
      expect(await listSeqs(one)).toEqual([]);
      expect(await listStoredTexts(one, id)).not.toContain("trois");
    }
    await device.kill(tab);
    await device.kill(other);
    const next = await device.openTab();
    expect(await listTexts(next, id)).toEqual(["un", "deux"]);
    device.faults.isOffline = false;
    device.wake();
    await waitUntilSent(next);
    expect(stored()).toMatchObject({ starred: [], deleted: [3] });
    await waitUntilDeviceSynced(server, next, id);
    expect(await listTexts(next, id)).toEqual(["un", "deux"]);
    expect(await readPreview(next, amina)).toMatchObject({ text: "deux" });
    expect((server.log(id).messages[2] as { body: object }).body).toMatchObject({ text: "trois" });
    expect(server.row(benoit, server.log(id)).preview).toMatchObject({ text: "trois" });
  });

  it("leaves every other device, live and after it was away, and an edit of its author does not bring it back", async () => {
    const { server, amina, benoit, id, tab } = await makePair();
    const tablet = makeDevice(server, amina);
    const other = await tablet.openTab();
    await waitUntilDeviceSynced(server, other, id);
    await deleteMessageForSelf(tab, id, 1);
    await eventually(async () => expect(await listStoredTexts(other, id)).not.toContain('"un"'));
    tablet.faults.isOffline = true;
    await deleteMessageForSelf(tab, id, 2);
    await waitUntilSent(tab);
    server.execute(benoit, { type: "editMessage", conversation: id, target: 2, edit: 0, text: "deux bis" });
    tablet.faults.isOffline = false;
    tablet.wake();
    for (const one of [tab, other]) {
      await waitUntilDeviceSynced(server, one, id);
      await eventually(async () => expect(await listTexts(one, id)).toEqual(["trois"]));
      expect(await listStoredTexts(one, id)).not.toContain("deux");
    }
  });

  it("that the server refuses is shown again", async () => {
    const { server, amina, id, tab } = await makePair();
    server.refuse = (_, command) => (command.type === "setMessageFlags" ? { error: "too_many_deleted" } : undefined);
    await deleteMessageForSelf(tab, id, 3);
    await waitUntilSent(tab);
    expect(await listTexts(tab, id)).toEqual(["un", "deux", "trois"]);
    expect(await readPreview(tab, amina)).toMatchObject({ text: "trois" });
  });
});
