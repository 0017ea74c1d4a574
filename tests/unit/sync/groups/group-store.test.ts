import { IDBObjectStore } from "fake-indexeddb";
import { afterEach, describe, expect, it, vi } from "vitest";
import { syncMemberList } from "#sync/inbound/member-loader.ts";
import { enqueueText } from "#sync/sending/enqueue.ts";
import { eventually } from "#tests/support/model/eventually.ts";
import { getContext, listShown, waitUntilDeviceSynced } from "#tests/support/model/model-checks.ts";
import { makeDevice, makeGroup } from "#tests/support/model/model-fixtures.ts";

afterEach(() => {
  vi.restoreAllMocks();
});

/** A phone with full storage, except for writes that `isTaken` allows. */
const fill = (isTaken: (table: string) => boolean) => {
  const { put } = IDBObjectStore.prototype;
  vi.spyOn(IDBObjectStore.prototype, "put").mockImplementation(function (this: IDBObjectStore, ...values) {
    if (!isTaken(this.name)) throw new DOMException("the phone is full", "QuotaExceededError");
    return put.apply(this, values);
  });
};

describe("groups in the local store", () => {
  it("a full phone applies a removal from a group once there is room, and sends nothing there meanwhile", async () => {
    const { server, amina, benoit, group } = makeGroup();
    const phone = makeDevice(server, benoit);
    const tab = await phone.openTab();
    server.sendTexts(amina, group, "before");
    await waitUntilDeviceSynced(server, tab, group);
    phone.faults.isOffline = true;
    await enqueueText(tab, group, "unsent");
    const before = getContext(tab);
    fill(() => false);
    server.changeGroup(amina, group, { type: "remove", user: benoit });
    phone.faults.isOffline = false;
    phone.wake();
    await eventually(() => expect(tab.storageTrouble.get()).toBe("full"));
    vi.restoreAllMocks();
    await eventually(async () => {
      expect(await getContext(tab).store.conversations.get(group)).toMatchObject({ gone: true });
      expect(await listShown(tab, group)).toEqual(["unsent failed"]);
      expect(tab.storageTrouble.get()).toBeUndefined();
    });
    expect(server.log(group).messages.every(({ author }) => author === amina)).toBe(true);
    // None of it is a fault of the store.
    expect(getContext(tab)).toBe(before);
  });

  it("a phone with no room for members shows the group anyway, and has their names once there is room", async () => {
    const { server, amina, group } = makeGroup();
    const phone = makeDevice(server, amina);
    const tab = await phone.openTab();
    await waitUntilDeviceSynced(server, tab, group);
    fill((table) => table !== "members");
    await expect(syncMemberList(getContext(tab), group)).rejects.toMatchObject({ code: "no_room" });
    tab.memberLoader.requestMembers(group, [1, 2]);
    await phone.pass(5_000);
    await enqueueText(tab, group, "still here");
    await waitUntilDeviceSynced(server, tab, group);
    vi.restoreAllMocks();
    await eventually(async () => expect(await getContext(tab).store.queryMembers(group).count()).toBe(2));
    await syncMemberList(getContext(tab), group);
    expect(await getContext(tab).store.queryMembers(group).count()).toBe(3);
  });
});
