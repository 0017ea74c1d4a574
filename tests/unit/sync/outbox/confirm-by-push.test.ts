import Dexie from "dexie";
import { describe, expect, it, vi } from "vitest";
import type { Relation } from "#contract/people.ts";
import {
  clearConversationHistory,
  deleteMessageBySeq,
  runRelationCommand,
  setConversationMuted,
} from "#sync/commands/conversation-commands.ts";
import type { SyncClient } from "#sync/engine/sync-client.ts";
import { SyncError } from "#sync/platform/sync-error.ts";
import { enqueueText } from "#sync/sending/enqueue.ts";
import { eventually } from "#tests/support/model/eventually.ts";
import { getContext, listConversations, listTexts, waitUntilDeviceSynced } from "#tests/support/model/model-checks.ts";
import { makeDevice, makePair } from "#tests/support/model/model-fixtures.ts";

const makePhone = async () => {
  const { server, amina, benoit, chat } = makePair();
  const phone = makeDevice(server, amina);
  const tab = await phone.openTab();
  const { store } = getContext(tab);
  await eventually(async () => expect(await store.people.get(benoit)).toMatchObject({ state: "contact" }));
  await eventually(() => expect(tab.link.get()).toBe("online"));
  const known = server.inbox(amina).people.get(benoit)?.relation;
  if (!known) throw new Error("no relation");
  const block = (isBlocked: boolean) => server.updateContact(amina, { ...known, blocked: isBlocked });
  return { server, amina, benoit, chat, phone, tab, store, known, block };
};

/** Simulates a connection that breaks some time after the request was sent. */
const loseAnswers = ({ platform }: SyncClient) => {
  const { request } = platform;
  vi.spyOn(platform, "request").mockImplementation(async (asked, options) => {
    await request(asked, options);
    await new Promise((resolve) => setTimeout(resolve, 30));
    throw new SyncError("offline");
  });
};

describe("a command executed on the server", () => {
  it("is not reported as failed if only its answer was lost", async () => {
    const { server, chat, benoit, tab, store, block } = await makePhone();
    vi.spyOn(tab.platform, "now").mockReturnValue(tab.platform.now()); // a notice may take a busy machine some time
    const blocking = runRelationCommand(
      tab,
      benoit,
      async () => {
        block(true);
        throw new SyncError("offline");
      },
      ({ blocked }) => blocked === 1,
    );
    await expect(blocking).resolves.toBeUndefined();
    expect(await store.people.get(benoit)).toMatchObject({ blocked: 1 });
    block(false);

    await enqueueText(tab, chat, "mine");
    await waitUntilDeviceSynced(server, tab, chat);
    server.sendTexts(benoit, chat, "his");
    await waitUntilDeviceSynced(server, tab, chat);
    loseAnswers(tab);
    await expect(setConversationMuted(tab, chat, true)).resolves.toBeUndefined();
    await expect(deleteMessageBySeq(tab, chat, 1)).resolves.toBeUndefined();
    expect(await store.messages.get([chat, 1])).toMatchObject({ body: { type: "deleted" } });
    await expect(clearConversationHistory(tab, chat, true)).resolves.toBeUndefined();
    expect(await listTexts(tab, chat)).toEqual([]);
    expect(await listConversations(tab)).toMatchObject([{ id: chat, muted: true }]);
    await expect(clearConversationHistory(tab, chat, false)).resolves.toBeUndefined();
    expect(await listConversations(tab)).toEqual([]);
  });

  it("is not reported as failed if the page was suspended when the notice arrived", async () => {
    const { benoit, tab, store, block } = await makePhone();
    const catchUp = vi.spyOn(tab, "refresh");
    const { indexedDB } = Dexie.dependencies;
    Dexie.dependencies.indexedDB = undefined as never; // No live query runs while the page is suspended.
    const blocking = runRelationCommand(
      tab,
      benoit,
      async () => {
        block(true);
        await eventually(async () => expect(await store.people.get(benoit)).toMatchObject({ blocked: 1 }));
        throw new SyncError("offline");
      },
      ({ blocked }) => blocked === 1,
    );
    await eventually(() => expect(catchUp).toHaveBeenCalled());
    await expect(blocking).resolves.toBeUndefined();
    Dexie.dependencies.indexedDB = indexedDB;
  });

  it("applies here once notified, however late the answer arrives and whatever it says", async () => {
    const { benoit, tab, store, block } = await makePhone();
    let lose = (_: Error) => {};
    const blocking = runRelationCommand(
      tab,
      benoit,
      () =>
        new Promise<Relation>((_, reject) => {
          lose = reject;
        }),
      ({ blocked }) => blocked === 1,
    );
    block(true);
    await blocking;
    block(false);
    await eventually(async () => expect(await store.people.get(benoit)).toMatchObject({ blocked: 0 }));
    lose(new SyncError("unavailable"));
    await new Promise((resolve) => setTimeout(resolve));
    expect(await store.people.get(benoit)).toMatchObject({ blocked: 0 });
  });

  it("is reported as failed if it was not executed: a refusal at once, a lost request after a moment", async () => {
    const { server, amina, chat, benoit, phone, tab, known, block } = await makePhone();
    phone.shouldLose = (_, what) => what === "request";
    const began = tab.platform.now();
    await expect(setConversationMuted(tab, chat, true)).rejects.toMatchObject({ code: "offline" });
    expect(tab.platform.now() - began).toBeLessThan(5_000);
    // Other notices about the person do not confirm the command.
    const asked = runRelationCommand(
      tab,
      benoit,
      async () => {
        server.updateContact(amina, { ...known, profile: { ...known.profile, username: "Ben" } });
        throw new SyncError("offline");
      },
      ({ blocked }) => blocked === 1,
    );
    await expect(asked).rejects.toMatchObject({ code: "offline" });
    const refused = runRelationCommand(
      tab,
      benoit,
      async () => {
        setTimeout(() => block(true), 20);
        throw new SyncError("rate_limited");
      },
      ({ blocked }) => blocked === 1,
    );
    await expect(refused).rejects.toMatchObject({ code: "rate_limited" });
  });
});
