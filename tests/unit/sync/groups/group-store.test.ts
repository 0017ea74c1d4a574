import Dexie from "dexie";
import { IDBKeyRange, IDBObjectStore } from "fake-indexeddb";
import { afterEach, describe, expect, it, vi } from "vitest";
import { createUuid } from "#contract/ids.ts";
import { syncMemberList } from "#sync/inbound/member-loader.ts";
import { enqueueText } from "#sync/outbox/enqueue.ts";
import { toStoreName } from "#sync/store/database.ts";
import { eventually } from "#tests/support/model/eventually.ts";
import { becomesLevel, contextOf, listOf, shownIn } from "#tests/support/model/model-checks.ts";
import { makeDevice, makeGroup } from "#tests/support/model/model-world.ts";

afterEach(() => {
  vi.restoreAllMocks();
});

/** A phone whose storage takes nothing more, but what `isTaken` lets through. */
const fill = (isTaken: (table: string) => boolean) => {
  const { put } = IDBObjectStore.prototype;
  vi.spyOn(IDBObjectStore.prototype, "put").mockImplementation(function (this: IDBObjectStore, ...values) {
    if (!isTaken(this.name)) throw new DOMException("the phone is full", "QuotaExceededError");
    return put.apply(this, values);
  });
};

describe("groups in the local store", () => {
  it("a store of the version before groups keeps what it holds and what is unsent, and takes groups in", async () => {
    const { server, amina, benoit, withBenoit, group } = makeGroup();
    const phone = makeDevice(server, amina);
    const old = new Dexie(toStoreName(amina), { indexedDB: phone.indexedDB, IDBKeyRange });
    old.version(2).stores({
      people: "id, state, blocked",
      conversations: "id, handle, [listed+lastAt]",
      messages: "[conversation+seq]",
      outbox: "cid, order, [conversation+order], body.file",
      meta: "key",
      uploads: "file",
      files: "file",
      blobs: "file",
      recordings: "conversation",
      chunks: "[conversation+n]",
    });
    await old.open();
    server.post(benoit, withBenoit, "held", "newer");
    const log = server.log(withBenoit);
    const { conversation: id, group: _group, gone: _gone, ...row } = server.row(amina, log);
    const held = { lo: 1, hi: 1, wantDelivered: 1, wantRead: 1, listed: 1, lastAt: 1, peer: benoit, revised: 0 };
    await old.table("conversations").add({ ...row, id, ...held });
    const said = { seq: 1, sender: 1, mine: 0, at: 1, body: { type: "text", text: "held" } };
    await old.table("messages").add({ conversation: withBenoit, ...said });
    const unsent = { cid: createUuid(), conversation: withBenoit, order: 1, body: { type: "text", text: "unsent" } };
    await old.table("outbox").add({ ...unsent, createdAt: phone.now(), state: "queued", attempts: 0 });
    await old.table("meta").add({ key: `draft:${withBenoit}`, value: "half" });
    old.close();
    phone.faults.isOffline = true;
    const tab = await phone.openTab();
    expect(await listOf(tab)).toMatchObject([{ id: withBenoit, group: null, gone: false, draft: "half" }]);
    expect(await shownIn(tab, withBenoit)).toEqual(["held", "unsent sending"]);
    phone.faults.isOffline = false;
    phone.wake();
    for (const chat of [withBenoit, group]) await becomesLevel(server, tab, chat);
    await eventually(async () => expect(await shownIn(tab, withBenoit)).toEqual(["held", "newer", "unsent sent"]));
    await syncMemberList(contextOf(tab), group);
    expect(await contextOf(tab).store.members.where("user").equals(benoit).count()).toBe(1);
  });

  it("a phone that is full takes in being put out of a group once there is room, and sends nothing there meanwhile", async () => {
    const { server, amina, benoit, group } = makeGroup();
    const phone = makeDevice(server, benoit);
    const tab = await phone.openTab();
    server.post(amina, group, "before");
    await becomesLevel(server, tab, group);
    phone.faults.isOffline = true;
    await enqueueText(tab, group, "unsent");
    const before = contextOf(tab);
    fill(() => false);
    server.change(amina, group, { type: "remove", user: benoit });
    phone.faults.isOffline = false;
    phone.wake();
    await eventually(() => expect(tab.storageIssue.get()).toBe("full"));
    vi.restoreAllMocks();
    await eventually(async () => {
      expect(await contextOf(tab).store.conversations.get(group)).toMatchObject({ gone: true });
      expect(await shownIn(tab, group)).toEqual(["unsent failed"]);
      expect(tab.storageIssue.get()).toBeUndefined();
    });
    expect(server.log(group).messages.every(({ author }) => author === amina)).toBe(true);
    // Nothing of it is a fault of the store.
    expect(contextOf(tab)).toBe(before);
  });

  it("a phone with no room for members shows the group all the same, and has their names once there is room", async () => {
    const { server, amina, group } = makeGroup();
    const phone = makeDevice(server, amina);
    const tab = await phone.openTab();
    await becomesLevel(server, tab, group);
    fill((table) => table !== "members");
    await expect(syncMemberList(contextOf(tab), group)).rejects.toMatchObject({ code: "no_room" });
    tab.memberLoader.requestMembers(group, [1, 2]);
    await phone.pass(5_000);
    await enqueueText(tab, group, "still here");
    await becomesLevel(server, tab, group);
    vi.restoreAllMocks();
    await eventually(async () => expect(await contextOf(tab).store.queryMembers(group).count()).toBe(2));
    await syncMemberList(contextOf(tab), group);
    expect(await contextOf(tab).store.queryMembers(group).count()).toBe(3);
  });
});
