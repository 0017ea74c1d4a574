import { describe, expect, it } from "vitest";
import type { ConversationId, Uuid } from "#contract/ids.ts";
import { clearConversationHistory, deleteMessageBySeq } from "#sync/commands/conversation-commands.ts";
import type { SyncClient } from "#sync/engine/sync-client.ts";
import { applyServerChanges } from "#sync/inbound/apply/apply-server-changes.ts";
import { editOwnMessage } from "#sync/operations/edit-message.ts";
import { deleteMessageForSelf } from "#sync/operations/set-message-flags.ts";
import { discardUnsentMessage } from "#sync/sending/discard-message.ts";
import { enqueueText } from "#sync/sending/enqueue.ts";
import { listOutbox } from "#sync/unsent/messages.ts";
import { eventually } from "#tests/support/model/eventually.ts";
import { getContext, waitUntilDeviceSynced } from "#tests/support/model/model-checks.ts";
import type { ModelDevice } from "#tests/support/model/model-device.ts";
import { makeDevice, makePair } from "#tests/support/model/model-fixtures.ts";
import type { ModelServer } from "#tests/support/model/model-server.ts";

type Scene = {
  server: ModelServer;
  amina: Uuid;
  benoit: Uuid;
  chat: ConversationId;
  phone: ModelDevice;
  tab: SyncClient;
};

/** Amina's phone with a message of each of the two. */
const makeScene = async (): Promise<Scene> => {
  const pair = makePair();
  const phone = makeDevice(pair.server, pair.amina);
  const tab = await phone.openTab();
  pair.server.sendTexts(pair.benoit, pair.chat, "his");
  await waitUntilDeviceSynced(pair.server, tab, pair.chat);
  await enqueueText(tab, pair.chat, "hers");
  await waitUntilDeviceSynced(pair.server, tab, pair.chat);
  return { ...pair, phone, tab };
};

const changes: Record<string, (scene: Scene) => unknown> = {
  "the other person deletes a message": ({ server, benoit, chat }) =>
    server.execute(benoit, { type: "deleteForEveryone", conversation: chat, seq: 1 }),
  "the other person edits a message": ({ server, benoit, chat }) =>
    server.execute(benoit, { type: "editMessage", conversation: chat, target: 1, edit: 0, text: "changed" }),
  "the person deletes a message for everyone": ({ tab, chat }) => deleteMessageBySeq(tab, chat, 2),
  "the person deletes a message for everyone offline": async ({ phone, tab, chat }) => {
    phone.faults.isOffline = true;
    for (const socket of phone.sockets) socket.end(1006);
    await eventually(() => expect(tab.link.get()).not.toBe("online"));
    await deleteMessageBySeq(tab, chat, 2);
  },
  "the person deletes a message for themselves": ({ tab, chat }) => deleteMessageForSelf(tab, chat, 1),
  "another device of the person deletes a message for itself": ({ server, amina, chat }) =>
    server.execute(amina, { type: "setMessageFlags", conversation: chat, seq: 1, deleted: true }),
  "the person edits a message": ({ tab, chat }) => editOwnMessage(tab, chat, { seq: 2 }, "changed"),
  "the person clears the history": ({ tab, chat }) => clearConversationHistory(tab, chat, true),
  "the person deletes the conversation": ({ tab, chat }) => clearConversationHistory(tab, chat, false),
  "an unsent message is discarded": async ({ phone, tab, chat }) => {
    phone.faults.isOffline = true;
    for (const socket of phone.sockets) socket.end(1006);
    await enqueueText(tab, chat, "unsent");
    const [unsent] = listOutbox(tab.unsent);
    await discardUnsentMessage(tab, unsent?.cid ?? "");
  },
  "the conversation is closed": ({ server, chat }) => server.closeConversation(chat),
  "the log is recreated": ({ server, chat }) => server.recreateLog(chat),
  "the other person is blocked": ({ server, amina, benoit }) => {
    const relation = server.inbox(amina).people.get(benoit)?.relation;
    if (relation) server.updateContact(amina, { ...relation, blocked: true });
  },
};

const others: Record<string, (scene: Scene) => unknown> = {
  "a message arrives": ({ server, benoit, chat }) => server.sendTexts(benoit, chat, "another"),
  "a message is sent": ({ tab, chat }) => enqueueText(tab, chat, "another"),
  "a reaction arrives": ({ server, benoit, chat }) =>
    server.execute(benoit, { type: "react", conversation: chat, seq: 2, emoji: "👍" }),
  "the other person reads": ({ server, benoit, chat }) =>
    server.execute(benoit, { type: "mark", conversation: chat, delivered: 2, read: 2 }),
};

describe("the snapshots of first views", () => {
  it.each(Object.entries(changes))("are deleted when %s", async (_, change) => {
    const scene = await makeScene();
    const before = scene.phone.firstViewDeletions;
    await change(scene);
    await eventually(() => expect(scene.phone.firstViewDeletions).toBeGreaterThan(before));
  });

  it.each(Object.entries(others))("stay when %s", async (_, change) => {
    const scene = await makeScene();
    const before = scene.phone.firstViewDeletions;
    await change(scene);
    await waitUntilDeviceSynced(scene.server, scene.tab, scene.chat);
    await scene.phone.pass(5_000);
    expect(scene.phone.firstViewDeletions).toBe(before);
  });

  it("are deleted after the change is stored, so that no snapshot of the former content follows", async () => {
    const { tab, chat, phone, server } = await makeScene();
    const context = getContext(tab);
    const states: string[] = [];
    const platform = {
      ...context.platform,
      deleteFirstViews: async () => {
        states.push((await context.store.messages.get([chat, 1]))?.body.type ?? "none");
      },
    };
    const [message] = server.log(chat).messages;
    if (!message) throw new Error("no message");
    await applyServerChanges({ ...context, platform }, [
      {
        type: "revised",
        target: chat,
        since: 0,
        revision: 1,
        messages: [{ seq: 1, sender: message.sender, at: message.at, body: { type: "deleted" } }],
      },
    ]);
    await eventually(() => expect(states).toEqual(["deleted"]));
    expect(phone.firstViewDeletions).toBe(0);
  });
});
