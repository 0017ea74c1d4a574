import { describe, expect, it } from "vitest";
import type { ConversationId, Uuid } from "#contract/ids.ts";
import { toShownSummary } from "#features/chat/reactions/toggle-reaction.ts";
import type { SyncClient } from "#sync/engine/sync-client.ts";
import { setPendingReaction } from "#sync/operations/set-reaction.ts";
import { readChat } from "#sync/queries/chat-messages.ts";
import { enqueueText } from "#sync/sending/enqueue.ts";
import { reactions } from "#sync/unsent/operations.ts";
import { eventually } from "#tests/support/model/eventually.ts";
import { getContext, waitUntilDeviceSynced } from "#tests/support/model/model-checks.ts";
import { makeDevice } from "#tests/support/model/model-fixtures.ts";
import { summarizeReactions } from "#tests/support/model/model-log.ts";
import { ModelServer } from "#tests/support/model/model-server.ts";

const listShown = async (tab: SyncClient, id: ConversationId) =>
  (await readChat(getContext(tab), id, 100)).items.map(toShownSummary).reverse();
const listPending = async (tab: SyncClient) => reactions.list(getContext(tab).unsent).map(({ emoji }) => emoji);

const makePair = async () => {
  const server = new ModelServer();
  const [amina, benoit] = ["Amina", "Benoît"].map((name) => server.addPerson(name)) as [Uuid, Uuid];
  const id = server.connect(amina, benoit);
  server.sendTexts(benoit, id, "un", "deux");
  const device = makeDevice(server, amina);
  const tab = await device.openTab();
  await waitUntilDeviceSynced(server, tab, id);
  const stored = (seq: number) => summarizeReactions(server.log(id).messages[seq - 1] as never, amina);
  const commands = () =>
    server.executedCommands.flatMap(({ command }) => (command.type === "react" ? command.emoji : []));
  return { server, amina, benoit, id, device, tab, stored, commands };
};

describe("a reaction", () => {
  it("is shown at once without a network, in every tab and after a restart, and sent once there is one", async () => {
    const { server, id, device, tab, stored } = await makePair();
    device.faults.isOffline = true;
    const other = await device.openTab();
    await setPendingReaction(tab, id, { seq: 2 }, "👍");
    for (const one of [tab, other]) expect(await listShown(one, id)).toEqual(["", "👍."]);
    await device.kill(tab);
    await device.kill(other);
    const next = await device.openTab();
    expect(await listShown(next, id)).toEqual(["", "👍."]);
    expect(stored(2)).toBe("");
    device.faults.isOffline = false;
    device.wake();
    await eventually(async () => expect(await listPending(next)).toEqual([]));
    expect(stored(2)).toBe("👍.");
    await waitUntilDeviceSynced(server, next, id);
    expect(await listShown(next, id)).toEqual(["", "👍."]);
  });

  it("replaces an earlier one that was not sent, and only the last is sent", async () => {
    const { id, device, tab, stored, commands } = await makePair();
    device.faults.isOffline = true;
    await setPendingReaction(tab, id, { seq: 1 }, "👍");
    await setPendingReaction(tab, id, { seq: 1 }, "❤️");
    expect(await listShown(tab, id)).toEqual(["❤️.", ""]);
    device.faults.isOffline = false;
    device.wake();
    await eventually(async () => expect(await listPending(tab)).toEqual([]));
    expect(commands()).toEqual(["❤️"]);
    expect(stored(1)).toBe("❤️.");
  });

  it("of another person overrides nothing pending, and both are counted", async () => {
    const { server, benoit, id, device, tab } = await makePair();
    device.faults.isOffline = true;
    await setPendingReaction(tab, id, { seq: 1 }, "👍");
    server.execute(benoit, { type: "react", conversation: id, seq: 1, emoji: "👍" });
    device.faults.isOffline = false;
    device.wake();
    await waitUntilDeviceSynced(server, tab, id);
    await eventually(async () => expect(await listShown(tab, id)).toEqual(["👍2.", ""]));
  });

  it("to an own unsent message is sent after it, whatever the message's place", async () => {
    const { server, benoit, id, device, tab, stored } = await makePair();
    device.faults.isOffline = true;
    await enqueueText(tab, id, "trois");
    const [unsent] = (await readChat(getContext(tab), id, 100)).items;
    await setPendingReaction(tab, id, unsent as never, "🙏");
    expect((await listShown(tab, id)).at(-1)).toBe("🙏.");
    server.sendTexts(benoit, id, "entre-temps");
    device.faults.isOffline = false;
    device.wake();
    await eventually(async () => expect(await listPending(tab)).toEqual([]));
    expect([3, 4].map(stored)).toEqual(["", "🙏."]);
  });

  it("that the server refuses for good is not shown any more, and the person is told", async () => {
    const { server, id, tab } = await makePair();
    server.refuse = (_, command) => (command.type === "react" ? { error: "too_many_reactions" } : undefined);
    await setPendingReaction(tab, id, { seq: 1 }, "👍");
    await eventually(async () => expect(await listPending(tab)).toEqual([]));
    expect(await listShown(tab, id)).toEqual(["", ""]);
  });

  it("disappears with its message, which is deleted on this device or by its author", async () => {
    const { server, benoit, id, tab } = await makePair();
    await setPendingReaction(tab, id, { seq: 1 }, "👍");
    await eventually(async () => expect(await listPending(tab)).toEqual([]));
    await waitUntilDeviceSynced(server, tab, id);
    server.execute(benoit, { type: "deleteForEveryone", conversation: id, seq: 1 });
    await waitUntilDeviceSynced(server, tab, id);
    expect(await getContext(tab).store.messages.get([id, 1])).not.toHaveProperty("reactions");
    await setPendingReaction(tab, id, { seq: 1 }, "👍");
    await eventually(async () => expect(await listPending(tab)).toEqual([]));
    expect(await listShown(tab, id)).toEqual(["", ""]);
  });
});
