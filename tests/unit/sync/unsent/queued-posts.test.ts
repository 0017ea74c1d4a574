import { IDBObjectStore } from "fake-indexeddb";
import { afterEach, describe, expect, it, vi } from "vitest";
import type { HttpRequest } from "#contract/wire/http-commands.ts";
import { readUnsentSummary } from "#sync/drafts/unsent-summary.ts";
import type { SyncClient } from "#sync/engine/sync-client.ts";
import { readFeed } from "#sync/feed/feed-store.ts";
import { cancelPost, enqueuePost, listPendingPosts, readPostOutcome } from "#sync/feed/post-queue.ts";
import { toStoreName } from "#sync/store/database.ts";
import { eventually } from "#tests/support/model/eventually.ts";
import { getContext } from "#tests/support/model/model-checks.ts";
import { makeDevice, makePair } from "#tests/support/model/model-fixtures.ts";
import { listUnsentBytes } from "#tests/support/model/outgoing-files.ts";

afterEach(() => {
  vi.restoreAllMocks();
});

const picture = { blob: new Blob(["picture"]), width: 4, height: 3, thumb: "abcdefgh" };

const isPublication = ({ path, method }: HttpRequest) => path === "/api/tala" && method === "POST";

/** Databases on the disks of the devices. A page without one works from memory. */
const disks = new WeakSet<IDBDatabase>();

/** Amina's phone with one tab, in which the connection is up. */
const openPhone = async () => {
  const { server, amina } = makePair();
  const phone = makeDevice(server, amina);
  const open = phone.indexedDB.open.bind(phone.indexedDB);
  phone.indexedDB.open = (...args) => {
    const request = open(...args);
    request.addEventListener("success", () => disks.add(request.result));
    return request;
  };
  const tab = await phone.openTab();
  await eventually(() => expect(tab.link.get()).toBe("online"));
  return { server, amina, phone, tab };
};

const listPending = async (tab: SyncClient) => (await listPendingPosts(getContext(tab))).map(({ content }) => content);
const listInFeed = async (tab: SyncClient) =>
  (await readFeed(getContext(tab).store)).flatMap(({ content, isHidden }) => (isHidden ? [] : content));

/** Makes writes to the disk fail with the error that `toError` names; undefined lets a write succeed. */
const refuseWrites = (toError: (store: IDBObjectStore) => string | undefined) => {
  for (const method of ["put", "add"] as const) {
    const write = IDBObjectStore.prototype[method];
    vi.spyOn(IDBObjectStore.prototype, method).mockImplementation(function (this: IDBObjectStore, ...args) {
      const error = disks.has(this.transaction.db) ? toError(this) : undefined;
      if (error) throw new DOMException("refused", error);
      return write.apply(this, args);
    });
  }
};

/** Makes the deletion of the status from the queue fail, as when the page ends before it. */
const refuseDeletions = () => {
  const remove = IDBObjectStore.prototype.delete;
  return vi.spyOn(IDBObjectStore.prototype, "delete").mockImplementation(function (this: IDBObjectStore, ...args) {
    if (this.name === "posts" && this.keyPath === "id") throw new DOMException("ended", "AbortError");
    return remove.apply(this, args);
  });
};

describe("a queued status", () => {
  it("outlives the loss of the cache with its picture, and is published", async () => {
    const { server, amina, phone, tab } = await openPhone();
    phone.faults.isOffline = true;
    await enqueuePost(tab, "one", picture, "everyone");
    await enqueuePost(tab, "two", undefined, "everyone");
    await phone.kill(tab);
    await new Promise((resolve) => {
      phone.indexedDB.deleteDatabase(toStoreName(amina)).onsuccess = resolve;
    });
    const next = await phone.openTab();
    const pending = await listPendingPosts(getContext(next));
    expect(pending.map(({ content }) => content)).toEqual(["two", "one"]);
    expect(await pending[1]?.blob?.text()).toBe("picture");
    phone.faults.isOffline = false;
    phone.wake();
    await eventually(() => expect(server.tala.texts).toEqual(["one", "two"]));
    expect(server.tala.posts[0]).toMatchObject({ bytes: picture.blob.size });
    await eventually(async () => expect(await listPending(next)).toEqual([]));
    await eventually(async () => expect(await listUnsentBytes(next)).toEqual([]));
  });

  it("is listed, counted and cancelled in another page than its own", async () => {
    const { server, phone, tab } = await openPhone();
    const other = await phone.openTab();
    phone.faults.isOffline = true;
    const id = await enqueuePost(other, "regretted", picture, "everyone");
    await eventually(async () => expect(await listPending(tab)).toEqual(["regretted"]));
    expect((await readUnsentSummary(getContext(tab))).posts).toBe(1);
    await cancelPost(tab, id);
    await eventually(async () => expect(await listPending(other)).toEqual([]));
    await eventually(async () => expect(await listUnsentBytes(other)).toEqual([]));
    phone.faults.isOffline = false;
    phone.wake();
    await phone.pass(20_000);
    expect(server.tala.texts).toEqual([]);
  });

  it("counts an attempt durably before the server may have it", async () => {
    const { server, phone, tab } = await openPhone();
    phone.shouldLose = (request) => isPublication(request);
    const id = await enqueuePost(tab, "on its way", undefined, "everyone");
    await eventually(() => expect(phone.requests.some(isPublication)).toBe(true));
    await phone.kill(tab);
    phone.faults.isOffline = true;
    const next = await phone.openTab();
    expect(next.unsent.find("posts", id)?.attempts).toBe(1);
    // Hence it is deleted there, instead of being forgotten here.
    await cancelPost(next, id);
    expect(next.unsent.find("posts", id)).toMatchObject({ state: "cancelled" });
    phone.shouldLose = () => false;
    phone.faults.isOffline = false;
    phone.wake();
    await eventually(() => expect(next.unsent.list().posts.size).toBe(0));
    expect(server.tala.texts).toEqual([]);
  });
});

describe("a status that is published and still in the queue", () => {
  const publish = async () => {
    const opened = await openPhone();
    const { phone, tab, server } = opened;
    const other = await phone.openTab();
    const deletions = refuseDeletions();
    const id = await enqueuePost(tab, "once", picture, "everyone");
    await eventually(async () => expect(await listInFeed(other)).toEqual(["once"]));
    await eventually(() => expect(deletions).toHaveBeenCalled());
    expect(server.tala.texts).toEqual(["once"]);
    return { ...opened, other, id };
  };

  it("is shown once, and counts as published", async () => {
    const { tab, other, id } = await publish();
    expect(other.unsent.list().posts.size).toBe(1);
    for (const page of [tab, other]) {
      expect(await listPending(page)).toEqual([]);
      expect(await listInFeed(page)).toEqual(["once"]);
      expect(await readPostOutcome(getContext(page), id)).toBe("published");
      expect((await readUnsentSummary(getContext(page))).posts).toBe(0);
    }
  });

  it("is not published again by the next page, which deletes it from the queue", async () => {
    const { server, phone, tab, other } = await publish();
    await phone.kill(tab);
    await phone.kill(other);
    phone.localStorage = undefined; // the journal, too, may not have the deletion
    vi.restoreAllMocks();
    const next = await phone.openTab();
    expect(next.unsent.list().posts.size).toBe(1);
    await eventually(() => expect(next.unsent.list().posts.size).toBe(0));
    await eventually(async () => expect(await listUnsentBytes(next)).toEqual([]));
    expect(server.tala.posts.map(({ arrivals }) => arrivals)).toEqual([1]);
    expect(await listInFeed(next)).toEqual(["once"]);
  });

  it("is hidden at once where it is cancelled, and deleted for everyone", async () => {
    const { server, phone, tab, other, id } = await publish();
    vi.restoreAllMocks();
    await cancelPost(other, id);
    expect(await listInFeed(other)).toEqual([]);
    expect(await listPending(other)).toEqual([]);
    phone.wake();
    await eventually(() => expect(server.tala.texts).toEqual([]));
    await eventually(() => expect(tab.unsent.list().posts.size).toBe(0));
  });
});

describe("a device that cannot store", () => {
  it("a status, its picture or the feed publishes it from memory, once", async () => {
    const { server, phone, tab } = await openPhone();
    refuseWrites(({ name }) => (name === "posts" || name === "bytes" ? "UnknownError" : undefined));
    vi.spyOn(console, "warn").mockImplementation(() => {});
    phone.faults.isOffline = true;
    await enqueuePost(tab, "from memory", picture, "everyone");
    const [pending] = await listPendingPosts(getContext(tab));
    expect(pending).toMatchObject({ content: "from memory" });
    expect(await pending?.blob?.text()).toBe("picture");
    phone.faults.isOffline = false;
    phone.wake();
    await eventually(() => expect(server.tala.texts).toEqual(["from memory"]));
    await eventually(() => expect(tab.unsent.list().posts.size).toBe(0));
    await phone.pass(60_000);
    expect(server.tala.posts).toMatchObject([{ bytes: picture.blob.size, arrivals: 1 }]);
  });

  it("a picture for want of room refuses the status", async () => {
    const { server, tab } = await openPhone();
    refuseWrites(({ name }) => (name === "bytes" ? "QuotaExceededError" : undefined));
    await expect(enqueuePost(tab, "too large", picture, "everyone")).rejects.toMatchObject({ code: "no_room" });
    expect(tab.unsent.list().posts.size).toBe(0);
    expect(server.tala.texts).toEqual([]);
  });

  it("a text for want of room publishes it from memory, and says so", async () => {
    const { server, tab } = await openPhone();
    refuseWrites(({ name, keyPath }) => (name === "posts" && keyPath === "id" ? "QuotaExceededError" : undefined));
    await enqueuePost(tab, "short", undefined, "everyone");
    expect(tab.storageTrouble.get()).toBe("full");
    await eventually(() => expect(server.tala.texts).toEqual(["short"]));
    await eventually(async () => expect(await listInFeed(tab)).toEqual(["short"]));
  });
});
