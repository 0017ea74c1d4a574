import { describe, expect, it } from "vitest";
import type { InboxRow } from "#contract/conversations.ts";
import type { Uuid } from "#contract/ids.ts";
import type { SyncClient } from "#sync/engine/sync-client.ts";
import { applyServerChanges } from "#sync/inbound/apply/apply-server-changes.ts";
import { syncMemberList } from "#sync/inbound/member-loader.ts";
import { readConversation } from "#sync/queries/conversation.ts";
import { enqueueText } from "#sync/sending/enqueue.ts";
import { retryFailedMessage } from "#sync/sending/files/retry-message.ts";
import { listUnknownMembers, readStoredMembersVersion } from "#sync/store/members.ts";
import { listUnsent } from "#sync/unsent/messages.ts";
import { getContext, listConversations, listShown, waitUntilDeviceSynced } from "#tests/support/model/model-checks.ts";
import { makeDevice, makeGroup } from "#tests/support/model/model-fixtures.ts";
import { makePicture, sendFiles } from "#tests/support/model/outgoing-files.ts";

/** Benoît's phone in Amina's group, with two messages, a full member list and an unsent text and picture. */
const openHis = async () => {
  const { server, amina, benoit, group } = makeGroup();
  const phone = makeDevice(server, benoit);
  const tab = await phone.openTab();
  server.sendTexts(amina, group, "un");
  await waitUntilDeviceSynced(server, tab, group);
  await syncMemberList(getContext(tab), group);
  phone.faults.isOffline = true;
  return { benoit, group, tab };
};

/** The row as the server sends it to somebody who left: neither open nor gone. */
const leave = async (tab: SyncClient, group: Uuid, change: Partial<InboxRow> = {}): Promise<void> => {
  const row = await getContext(tab).store.conversations.get(group);
  if (!row) throw new Error("no row");
  const { head } = row;
  const inbox = { ...row, conversation: group, handle: row.handle ?? 1, mentions: [], flagsRevision: 0 };
  const read = { delivered: head, read: head, unread: 0 };
  await applyServerChanges(getContext(tab), [
    { type: "row", row: { ...inbox, ...read, open: false, ...change } as unknown as InboxRow },
  ]);
};

describe("a group that this person left", () => {
  it("stays in the list with its messages and names, unread counts and receipts end, and nothing is sent", async () => {
    const { group, tab } = await openHis();
    await enqueueText(tab, group, "en route");
    await sendFiles(tab, group, makePicture(1_000));
    await leave(tab, group);
    const { store } = getContext(tab);
    expect((await listConversations(tab)).find(({ id }) => id === group)).toMatchObject({ open: false, unread: 0 });
    expect(await readConversation(getContext(tab), group)).toMatchObject({
      open: false,
      gone: false,
      group: { name: "Famille" },
    });
    // A picture is not uploaded any more; a text may be in the log, so the server is asked.
    expect(await listShown(tab, group)).toEqual(["event", "un", "en route sending", "image failed"]);
    await enqueueText(tab, group, "trop tard");
    expect((await listShown(tab, group)).at(-1)).toBe("trop tard failed");
    const failed = listUnsent(tab.unsent, group).find(({ state }) => state === "failed");
    await expect(retryFailedMessage(tab, failed?.cid ?? "")).rejects.toMatchObject({ code: "conversation_not_found" });
    expect(await store.conversations.get(group)).toMatchObject({ wantDelivered: 0, wantRead: 0, unread: 0 });
  });

  it("keeps the names as they are and asks only for those it lacks, and for the whole list after returning", async () => {
    const { group, tab } = await openHis();
    const context = getContext(tab);
    expect(await readStoredMembersVersion(context.store, group)).toBeGreaterThan(0);
    await leave(tab, group);
    expect(await context.store.queryMembers(group).count()).toBe(3);
    expect(await readStoredMembersVersion(context.store, group)).toBe(0);
    await context.store.members.toCollection().modify({ at: 0 });
    expect(await listUnknownMembers(context, group, [0, 1, 2, 7])).toEqual([7]);
    await leave(tab, group, { open: true });
    expect(await listUnknownMembers(context, group, [0, 2, 7])).toEqual([0, 2, 7]);
  });
});
