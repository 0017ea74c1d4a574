import { describe, expect, it } from "vitest";
import { createUuid } from "#contract/ids.ts";
import { deleteMessageByClientId } from "#sync/commands/conversation-commands.ts";
import type { SyncClient } from "#sync/engine/sync-client.ts";
import { changeConversationFlags } from "#sync/operations/conversation-flags.ts";
import { editOwnMessage } from "#sync/operations/edit-message.ts";
import { setMessageStarred } from "#sync/operations/set-message-flags.ts";
import { setPendingReaction } from "#sync/operations/set-reaction.ts";
import { queueSettingsChange } from "#sync/operations/settings-commands.ts";
import { readConversations } from "#sync/queries/conversation-list.ts";
import { enqueueText } from "#sync/sending/enqueue.ts";
import { toStoreName } from "#sync/store/database.ts";
import type { OperationRow } from "#sync/unsent/operation-row.ts";
import { mergeRows } from "#sync/unsent/unsent-state.ts";
import { eventually } from "#tests/support/model/eventually.ts";
import { getContext, waitUntilDeviceSynced } from "#tests/support/model/model-checks.ts";
import { makeDevice, makePair } from "#tests/support/model/model-fixtures.ts";

const listKinds = (tab: SyncClient) => [...tab.unsent.list().operations.values()].map(({ kind }) => kind).sort();

describe("operations made without a network", () => {
  it("outlive the loss of the cache, and reach the server once there is a network", async () => {
    const { server, amina, benoit, chat } = makePair();
    const phone = makeDevice(server, amina);
    const tab = await phone.openTab();
    server.sendTexts(benoit, chat, "un", "deux");
    await waitUntilDeviceSynced(server, tab, chat);
    await enqueueText(tab, chat, "trois");
    await waitUntilDeviceSynced(server, tab, chat);
    phone.faults.isOffline = true;
    for (const socket of server.inbox(amina).sockets) socket.end(1006);
    await setPendingReaction(tab, chat, { seq: 1 }, "👍");
    await setMessageStarred(tab, chat, 2, true);
    await editOwnMessage(tab, chat, { seq: 3 }, "quatre");
    await changeConversationFlags(tab, chat, { pinned: true });
    await queueSettingsChange(tab, { receipts: false });
    await deleteMessageByClientId(tab, chat, createUuid());
    const kinds = ["conversationFlags", "deletion", "edit", "messageFlags", "reaction", "settings"];
    expect(listKinds(tab)).toEqual(kinds);
    await phone.kill(tab);
    await new Promise((resolve) => {
      phone.indexedDB.deleteDatabase(toStoreName(amina)).onsuccess = resolve;
    });
    const next = await phone.openTab();
    expect(listKinds(next)).toEqual(kinds);
    phone.faults.isOffline = false;
    phone.wake();
    await eventually(() => expect(listKinds(next)).toEqual([]));
    await waitUntilDeviceSynced(server, next, chat);
    expect(server.listMessageFlags(amina, chat)).toMatchObject({ starred: [{ seq: 2 }] });
    expect(server.log(chat).messages.at(-1)).toMatchObject({ body: { text: "quatre" } });
    expect(server.inbox(amina).settings?.kept.settings.receipts).toBe(false);
    expect(server.log(chat).deletedPending.size).toBe(1);
    expect(await readConversations(getContext(next), 10)).toMatchObject([{ id: chat, pinned: true }]);
  });
});

describe("an operation that a page could not commit", () => {
  const chosen = (at: number): OperationRow => ({
    ...{ key: "reaction chat 1", kind: "reaction", at },
    ...{ conversation: "chat", target: 1, emoji: "👍", epoch: "" },
  });

  it("wins over an earlier one and loses to a later one", () => {
    expect(mergeRows("operations", chosen(1), chosen(2), 1)).toEqual(chosen(2));
    expect(mergeRows("operations", chosen(3), chosen(2), 1)).toEqual(chosen(3));
    expect(mergeRows("operations", undefined, chosen(2), 1)).toEqual(chosen(2));
  });

  it("and had ended ends the committed one, unless another page has changed that", () => {
    expect(mergeRows("operations", chosen(1), undefined, 1)).toBeUndefined();
    expect(mergeRows("operations", chosen(2), undefined, 1)).toEqual(chosen(2));
  });
});
