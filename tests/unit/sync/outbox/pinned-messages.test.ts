import { expect, it } from "vitest";
import type { ConversationId, Uuid } from "#contract/ids.ts";
import { setMessagePinned } from "#sync/commands/conversation-commands.ts";
import type { SyncClient } from "#sync/engine/sync-client.ts";
import { readQuotedMessage } from "#sync/inbound/quoted-message.ts";
import { deleteMessageForSelf } from "#sync/operations/set-message-flags.ts";
import { readConversation } from "#sync/queries/conversation.ts";
import { eventually } from "#tests/support/model/eventually.ts";
import { getContext, listTexts, waitUntilDeviceSynced } from "#tests/support/model/model-checks.ts";
import { makeDevice } from "#tests/support/model/model-fixtures.ts";
import { ModelServer } from "#tests/support/model/model-server.ts";

const readShown = async (tab: SyncClient, id: ConversationId) => {
  return (await readConversation(getContext(tab), id)).pinnedMessages;
};

const makePair = async () => {
  const server = new ModelServer();
  const [amina, benoit] = ["Amina", "Benoît"].map((name) => server.addPerson(name)) as [Uuid, Uuid];
  const id = server.connect(amina, benoit);
  server.sendTexts(benoit, id, "un", "deux", "trois", "quatre");
  const [phone, tablet] = [makeDevice(server, amina), makeDevice(server, benoit)];
  const [tab, other] = [await phone.openTab(), await tablet.openTab()];
  for (const one of [tab, other]) await waitUntilDeviceSynced(server, one, id);
  const expectShown = async (seqs: number[], tabs = [tab, other]) => {
    for (const one of tabs) await eventually(async () => expect(await readShown(one, id)).toEqual(seqs));
  };
  return { server, amina, benoit, id, phone, tablet, tab, other, expectShown };
};

it("a pin is shown on the devices of both with its system message, live and after one was away", async () => {
  const { server, id, tablet, tab, other, expectShown } = await makePair();
  await setMessagePinned(tab, id, 2, true);
  await expectShown([2]);
  await eventually(async () => expect(await listTexts(other, id)).toEqual(["un", "deux", "trois", "quatre", "event"]));
  tablet.faults.isOffline = true;
  await setMessagePinned(tab, id, 1, true);
  await setMessagePinned(tab, id, 2, false);
  tablet.faults.isOffline = false;
  tablet.wake();
  await expectShown([1]);
  await waitUntilDeviceSynced(server, other, id);
});

it("without a network nothing is pinned and the person is told, as for a fourth one", async () => {
  const { id, phone, tab, expectShown } = await makePair();
  phone.faults.isOffline = true;
  await expect(setMessagePinned(tab, id, 1, true)).rejects.toMatchObject({ code: "offline" });
  phone.faults.isOffline = false;
  phone.wake();
  for (const seq of [3, 1, 2]) await setMessagePinned(tab, id, seq, true);
  await expect(setMessagePinned(tab, id, 4, true)).rejects.toMatchObject({ code: "too_many_pinned_messages" });
  await expectShown([3, 1, 2]);
});

it("a pinned message that is deleted for oneself is at once shown without its words, and can be unpinned", async () => {
  const { id, phone, tab, other, expectShown } = await makePair();
  for (const seq of [1, 2]) await setMessagePinned(tab, id, seq, true);
  await expectShown([1, 2]);
  phone.faults.isOffline = true;
  await deleteMessageForSelf(tab, id, 2);
  await expectShown([1, 2]);
  expect(await readQuotedMessage(getContext(tab), id, 2)).toMatchObject({ state: "unavailable" });
  expect(await readQuotedMessage(getContext(other), id, 2)).toMatchObject({ state: "found" });
  phone.faults.isOffline = false;
  phone.wake();
  await setMessagePinned(tab, id, 2, false);
  await expectShown([1]);
});
