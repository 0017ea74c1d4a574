import { describe, expect, it } from "vitest";
import { describeDeleter, listNamedMembers } from "#components/messages/member-names.ts";
import type { Translate } from "#i18n/setup.ts";
import { deleteMessageBySeq } from "#sync/commands/conversation-commands.ts";
import type { SyncClient } from "#sync/engine/sync-client.ts";
import { enqueueText } from "#sync/sending/enqueue.ts";
import { eventually } from "#tests/support/model/eventually.ts";
import { getContext, waitUntilDeviceSynced } from "#tests/support/model/model-checks.ts";
import { makeDevice, makeGroup } from "#tests/support/model/model-fixtures.ts";

/** A group whose member Benoît wrote message 2, on a device of the owner and one of Benoît. */
const makeChat = async () => {
  const { server, amina, benoit, group } = makeGroup();
  const benoitDevice = makeDevice(server, benoit);
  const [owner, author] = [await makeDevice(server, amina).openTab(), await benoitDevice.openTab()];
  await enqueueText(author, group, "to regret");
  for (const tab of [owner, author]) {
    await eventually(async () => expect(await bodyIn(tab, group)).toMatchObject({ type: "text" }));
    await waitUntilDeviceSynced(server, tab, group);
  }
  return { server, group, benoitDevice, owner, author };
};
const bodyIn = async (tab: SyncClient, group: string) => (await getContext(tab).store.messages.get([group, 2]))?.body;

describe("a message that the owner of the group deletes", () => {
  it("names the owner on all devices, also on one where its author deleted it offline", async () => {
    const { server, group, benoitDevice, owner, author } = await makeChat();
    benoitDevice.faults.isOffline = true;
    benoitDevice.wake();
    await eventually(() => expect(author.link.get()).not.toBe("online"));
    await deleteMessageBySeq(author, group, 2);
    expect(await bodyIn(author, group)).toEqual({ type: "deleted" });
    await deleteMessageBySeq(owner, group, 2);
    benoitDevice.faults.isOffline = false;
    benoitDevice.wake();
    for (const tab of [owner, author]) await waitUntilDeviceSynced(server, tab, group);
    for (const tab of [owner, author]) expect(await bodyIn(tab, group)).toEqual({ type: "deleted", by: 0 });
  });

  it("does not name the owner if its author was first", async () => {
    const { server, group, owner, author } = await makeChat();
    await deleteMessageBySeq(author, group, 2);
    await deleteMessageBySeq(owner, group, 2);
    for (const tab of [owner, author]) await waitUntilDeviceSynced(server, tab, group);
    for (const tab of [owner, author]) expect(await bodyIn(tab, group)).toEqual({ type: "deleted" });
  });
});

describe("the text of its tombstone", () => {
  const t = ((key: string, values?: { name: string }) => `${key} ${values?.name ?? ""}`.trim()) as Translate;
  const names = { ownNumber: 1, profiles: { 0: { name: "Amina" }, 2: { name: "" } } };

  it("names the owner once the name is loaded, and 'you' for the owner", () => {
    expect(describeDeleter({ type: "deleted", by: 0 }, names, t)).toMatch(/^messages\.deletedBy .*Amina/);
    expect(describeDeleter({ type: "deleted", by: 1 }, names, t)).toBe("messages.deletedByMe");
    expect(describeDeleter({ type: "deleted", by: 2 }, names, t)).toMatch(/common\.deletedAccount/);
    expect(describeDeleter({ type: "deleted", by: 3 }, names, t)).toBeUndefined();
    expect(describeDeleter({ type: "deleted" }, names, t)).toBeUndefined();
    expect(listNamedMembers({ body: { type: "deleted", by: 0 }, sender: 2 })).toEqual([2, 0]);
  });
});
