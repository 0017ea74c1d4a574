import { describe, expect, it, vi } from "vitest";
import { setConversationMuted } from "#sync/commands/conversation-commands.ts";
import { applyInTransaction } from "#sync/inbound/apply/apply-server-changes.ts";
import { toRowChanges } from "#sync/inbound/server-changes.ts";
import { addGap, readSyncCursor, writeSyncCursor } from "#sync/store/sync-cursor.ts";
import { eventually } from "#tests/support/model/eventually.ts";
import { findListRow, getContext, waitUntilDeviceSynced, waitUntilGone } from "#tests/support/model/model-checks.ts";
import { makeDevice, makeGroup } from "#tests/support/model/model-fixtures.ts";

describe("late answers", () => {
  it("do not restore a group from which the user was removed after the request", async () => {
    const { server, amina, benoit, group } = makeGroup();
    const phone = makeDevice(server, benoit);
    const tab = await phone.openTab();
    await waitUntilDeviceSynced(server, tab, group);
    const { store } = getContext(tab);
    const { counter: knownCounter } = await readSyncCursor(store);
    const result = server.listChanges(benoit, 0);
    const { counter, epoch } = result;
    const answer = { type: "answer", knownCounter, epoch, counter, changes: toRowChanges(result) } as const;
    server.changeGroup(amina, group, { type: "rename", name: "Cousins" });
    server.changeGroup(amina, group, { type: "remove", user: benoit });
    await waitUntilGone(tab, group);
    const before = await readSyncCursor(store);
    await applyInTransaction(getContext(tab), [{ ...answer, move: (cursor) => addGap(cursor, 0) }]);
    expect(await store.conversations.get(group)).toMatchObject({ gone: true, group: { name: "Cousins" } });
    expect(await readSyncCursor(store)).toEqual(before);
    // One as new as the stored state is applied.
    const fresh = server.listChanges(benoit, 0);
    const changes = toRowChanges(fresh);
    await applyInTransaction(getContext(tab), [
      {
        type: "answer",
        knownCounter,
        epoch,
        counter: fresh.counter,
        changes,
        move: (cursor) => ({ ...cursor, skew: 5 }),
      },
    ]);
    expect(await readSyncCursor(store)).toMatchObject({ skew: 5 });
  });

  it("do not undo a change that another device made meanwhile", async () => {
    const { server, amina, group } = makeGroup();
    const phone = makeDevice(server, amina);
    const tab = await phone.openTab();
    await waitUntilDeviceSynced(server, tab, group);
    const { store } = getContext(tab);
    const becomes = (muted: boolean) =>
      eventually(async () => expect(await store.conversations.get(group)).toMatchObject({ muted }));
    phone.answerMs = 10_000;
    await setConversationMuted(tab, group, true);
    await becomes(true);
    server.execute(amina, { type: "mute", conversation: group, muted: false });
    await becomes(false);
    await phone.pass(12_000);
    expect(await store.conversations.get(group)).toMatchObject({ muted: false });
  });

  it("apply if the change they name is not stored yet, and are ignored otherwise", async () => {
    const { server, amina, group } = makeGroup();
    const tab = await makeDevice(server, amina).openTab();
    await waitUntilDeviceSynced(server, tab, group);
    const { store } = getContext(tab);
    const cursor = await readSyncCursor(store);
    const { epoch, counter } = cursor;
    const answerWith = async (change: { epoch: string; counter: number }, value: boolean) => {
      const answer = { conversation: group, upTo: 0, keep: value, change };
      const mute = { muted: value, mutedUntil: null, mutedExceptMentions: false };
      await applyInTransaction(getContext(tab), [
        { type: "muted", mute, ...answer },
        { type: "cleared", ...answer },
      ]);
      const { muted, kept } = (await store.conversations.get(group)) ?? {};
      return { muted, kept };
    };
    const off = { muted: false, kept: false };
    const on = { muted: true, kept: true };
    expect(await answerWith({ epoch, counter }, true)).toEqual(off);
    expect(await answerWith({ epoch: "another", counter: counter + 1 }, true)).toEqual(off);
    expect(await answerWith({ epoch, counter: counter + 1 }, true)).toEqual(on);
    // A change in a gap of the cursor is not stored yet.
    await writeSyncCursor(store, { ...cursor, gaps: [{ since: counter - 2, before: counter }] });
    expect(await answerWith({ epoch, counter: counter - 2 }, false)).toEqual(on);
    expect(await answerWith({ epoch, counter }, false)).toEqual(on);
    expect(await answerWith({ epoch, counter: counter - 1 }, false)).toEqual(off);
  });

  it("apply before the push of their change, or with it if they name no change", async () => {
    const { server, amina, group } = makeGroup();
    const phone = makeDevice(server, amina);
    const tab = await phone.openTab();
    await waitUntilDeviceSynced(server, tab, group);
    const { store } = getContext(tab);
    // The push of an earlier change of the row arrives while the request is on its way; the request's own push is late.
    phone.requestMs = 4_000;
    const muting = setConversationMuted(tab, group, true);
    server.changeGroup(amina, group, { type: "rename", name: "Cousins" });
    await eventually(async () => expect(await findListRow(tab, group)).toMatchObject({ group: { name: "Cousins" } }));
    phone.faults.random = () => 0;
    phone.faults.reorderDown = 1;
    await muting;
    expect(await store.conversations.get(group)).toMatchObject({ muted: true });
    phone.faults.reorderDown = 0;
    phone.requestMs = 0;
    await waitUntilDeviceSynced(server, tab, group);
    vi.spyOn(server, "changeNumber").mockReturnValue(undefined as never); // an earlier server
    await setConversationMuted(tab, group, false);
    await eventually(async () => expect(await store.conversations.get(group)).toMatchObject({ muted: false }));
    await waitUntilDeviceSynced(server, tab, group);
  });

  it("do not restore an older name of a group by an overtaken row", async () => {
    const { server, amina, group } = makeGroup();
    const tab = await makeDevice(server, amina).openTab();
    await waitUntilDeviceSynced(server, tab, group);
    const old = server.row(amina, server.log(group));
    server.changeGroup(amina, group, { type: "rename", name: "Cousins" });
    await waitUntilDeviceSynced(server, tab, group);
    await applyInTransaction(getContext(tab), [{ type: "row", row: old }]);
    expect(await findListRow(tab, group)).toMatchObject({ group: { name: "Cousins" } });
  });
});
