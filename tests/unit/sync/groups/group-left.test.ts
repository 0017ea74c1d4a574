import { describe, expect, it } from "vitest";
import type { ConversationId } from "#contract/ids.ts";
import type { SyncClient } from "#sync/engine/sync-client.ts";
import { enqueueText } from "#sync/sending/enqueue.ts";
import { retryFailedMessage } from "#sync/sending/files/retry-message.ts";
import { enqueueBroadcast } from "#sync/sending/multicast.ts";
import { listUnsent } from "#sync/unsent/messages.ts";
import { eventually } from "#tests/support/model/eventually.ts";
import { findListRow, getContext, listShown, waitUntilDeviceSynced } from "#tests/support/model/model-checks.ts";
import { makeDevice, makeGroup } from "#tests/support/model/model-fixtures.ts";
import { countUnsent, makePicture, sendFiles } from "#tests/support/model/outgoing-files.ts";

const ways = [
  { way: "over a socket", noUpgrade: false },
  { way: "by HTTP", noUpgrade: true },
];

type Places = readonly [group: ConversationId, withBenoit: ConversationId];

/** Benoît in Amina's group, on a phone that reaches the server over this transport. */
const openHis = async ({ noUpgrade }: { noUpgrade: boolean }) => {
  const { server, amina, benoit, group, withBenoit } = makeGroup();
  const phone = makeDevice(server, benoit);
  phone.faults.noUpgrade = noUpgrade;
  const tab = await phone.openTab();
  await waitUntilDeviceSynced(server, tab, group);
  const { store } = getContext(tab);
  const takeOut = async () => {
    expect(server.changeGroup(amina, group, { type: "remove", user: benoit })).toBeUndefined();
    await eventually(async () => expect(await store.conversations.get(group)).toMatchObject({ gone: true }));
  };
  return { server, amina, benoit, group, withBenoit, phone, tab, store, takeOut };
};

describe.each(ways)("messages being sent to a group when their author was removed ($way)", (way) => {
  it.each([
    ["a text", (tab: SyncClient, [group]: Places) => enqueueText(tab, group, "just in time")],
    ["to many", (tab: SyncClient, places: Places) => enqueueBroadcast(tab, places, "just in time")],
  ])("are not shown as failed if they are in the log, though their answer was lost (%s)", async (_, write) => {
    const { server, group, withBenoit, phone, tab, takeOut } = await openHis(way);
    phone.shouldLose = ({ method, path }, what) => what === "answer" && method === "POST" && path.includes("messages");
    if (!way.noUpgrade) phone.faults.dropAck = 1;
    // Nor does the phone find it by reading the group.
    server.refuse = (_, { type }) => (type === "page" ? { error: "unavailable" } : undefined);
    await write(tab, [group, withBenoit]);
    await eventually(() => expect(server.log(group).messages).toHaveLength(2));
    await takeOut();
    expect(await listShown(tab, group)).toEqual(["just in time sending"]);
    expect(await findListRow(tab, group)).toMatchObject({ gone: true, last: { status: "sending" } });
    server.refuse = () => undefined;
    phone.faults.dropAck = 0;
    phone.shouldLose = () => false;
    await eventually(async () => expect(await countUnsent(tab)).toEqual({ outbox: 0, uploads: 0, files: 0 }));
    expect(await listShown(tab, group)).toEqual([]);
    expect(await findListRow(tab, group)).toBeUndefined();
    await waitUntilDeviceSynced(server, tab, withBenoit);
    expect(server.log(group).messages).toHaveLength(3); // It is there once, before the system message of his removal.
  });

  it("are shown as failed once the server denied them, and no later message is ever sent", async () => {
    const { server, amina, group, withBenoit, phone, tab, takeOut } = await openHis(way);
    server.refuse = (_, { type }) => (type === "send" || type === "multicast" ? { error: "unavailable" } : undefined);
    await enqueueText(tab, group, "not in time");
    await enqueueBroadcast(tab, [group, withBenoit], "to both");
    await takeOut();
    await enqueueText(tab, group, "too late");
    await sendFiles(tab, group, makePicture(1_000));
    const later = ["too late failed", "image failed"];
    expect(await listShown(tab, group)).toEqual(["not in time sending", "to both sending", ...later]);
    for (const { cid } of listUnsent(tab.unsent, group))
      await expect(retryFailedMessage(tab, cid)).rejects.toMatchObject({ code: "conversation_not_found" });
    const late = listUnsent(tab.unsent, group).flatMap(({ cid, state }) => (state === "failed" ? cid : []));
    expect(late).toHaveLength(2);
    server.refuse = () => undefined;
    phone.wake();
    const failed = ["not in time failed", "to both failed", ...later];
    await eventually(async () => expect(await listShown(tab, group)).toEqual(failed));
    const unsent = listUnsent(tab.unsent, group);
    expect(unsent.map(({ error }) => error)).toEqual(Array(4).fill("conversation_not_found"));
    await waitUntilDeviceSynced(server, tab, withBenoit);
    expect(await listShown(tab, withBenoit)).toEqual(["to both sent"]);
    expect(server.log(group).messages.every(({ author }) => author === amina)).toBe(true);
    expect(
      server.executedCommands.filter(({ command }) => late.some((cid) => JSON.stringify(command).includes(cid))),
    ).toEqual([]);
    const { length: before } = server.executedCommands;
    await phone.pass(20_000);
    expect(server.executedCommands.slice(before).filter(({ command }) => command.type === "send")).toEqual([]);
  });

  it("are sent to the group if their author was added again before the server was asked", async () => {
    const { server, amina, benoit, group, tab, takeOut } = await openHis(way);
    server.refuse = (_, { type }) => (type === "send" ? { error: "unavailable" } : undefined);
    await enqueueText(tab, group, "for you all");
    await takeOut();
    server.changeGroup(amina, group, { type: "add", users: [benoit] });
    server.refuse = () => undefined;
    await waitUntilDeviceSynced(server, tab, group);
    expect(await listShown(tab, group)).toEqual(["event", "for you all sent"]);
  });
});
