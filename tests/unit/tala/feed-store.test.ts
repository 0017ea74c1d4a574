import { describe, expect, it } from "vitest";
import { createUuid, type Uuid } from "#contract/ids.ts";
import { feedFreshMs, feedPollMs, postPageRows } from "#contract/limits/tala.ts";
import type { SyncClient } from "#sync/engine/sync-client.ts";
import { FeedPoller, fetchOlderPosts } from "#sync/feed/feed-poller.ts";
import { readFeed, toFeedView } from "#sync/feed/feed-store.ts";
import { deletePostOnServer, enqueuePost } from "#sync/feed/post-queue.ts";
import { eventually } from "#tests/support/model/eventually.ts";
import { getContext } from "#tests/support/model/model-checks.ts";
import { makeDevice, makePair } from "#tests/support/model/model-fixtures.ts";
import type { ModelServer } from "#tests/support/model/model-server.ts";

const write = (server: ModelServer, author: Uuid, ...texts: string[]) =>
  texts.map((text) => server.tala.publish(author, createUuid(), text));
const numbered = (from: number, to: number): string[] =>
  Array.from({ length: to - from + 1 }, (_, index) => `post ${from + index}`);

/** Statuses shown to somebody who scrolls down from a status. */
const look = async (tab: SyncClient, top = Number.POSITIVE_INFINITY, limit = 1_000) => {
  const view = toFeedView(await readFeed(getContext(tab).store), top, limit);
  return { ...view, texts: view.posts.map(({ content }) => content) };
};

const openFeed = async (tab: SyncClient): Promise<FeedPoller> => {
  const poller = new FeedPoller(tab, () => false);
  await eventually(() => expect(poller.status.get().at).toBe("seen"));
  return poller;
};

/** Refreshes and waits for its own answer; an answer already on its way may have been requested earlier. */
const lookAgain = async (poller: FeedPoller): Promise<void> => {
  for (const _ of ["under way", "asked for now"])
    await new Promise<void>((resolve) => {
      const unsubscribe = poller.status.subscribe(() => {
        unsubscribe();
        setTimeout(resolve);
      });
      void poller.refresh();
    });
};

const open = async () => {
  const { server, amina, benoit } = makePair();
  const phone = makeDevice(server, amina);
  const tab = await phone.openTab();
  return { server, amina, benoit, phone, tab, store: getContext(tab).store };
};

describe("the feed on a phone", () => {
  it("shows the newest first, page after page down to the oldest", async () => {
    const { server, benoit, tab } = await open();
    const texts = numbered(1, 2 * postPageRows + 5);
    write(server, benoit, ...texts);
    const poller = await openFeed(tab);
    const first = await look(tab);
    expect(first.texts).toEqual(texts.slice(-postPageRows).reverse());
    expect(first.posts[0]).toMatchObject({ username: "Benoît", author: benoit });
    for (let { older } = first; older !== undefined && older !== "here"; { older } = await look(tab))
      await fetchOlderPosts(getContext(tab), older.before);
    expect((await look(tab)).texts).toEqual([...texts].reverse());
    poller.stop();
  });

  it("shows newer statuses only when requested, and their number, or that they exceed a page", async () => {
    const { server, benoit, tab } = await open();
    write(server, benoit, "one", "two");
    const poller = await openFeed(tab);
    const top = (await look(tab)).posts[0]?.number ?? 0;
    write(server, benoit, "three");
    await lookAgain(poller);
    expect(await look(tab, top)).toMatchObject({ texts: ["two", "one"], newer: 1, hasMoreNewer: false });
    write(server, benoit, ...numbered(1, 30));
    await lookAgain(poller);
    expect(await look(tab, top)).toMatchObject({ texts: ["two", "one"], hasMoreNewer: true });
    const newest = await look(tab);
    expect(newest.texts).toEqual(numbered(11, 30).reverse());
    // The statuses between the two are loaded before those below are shown again.
    expect(newest.older).not.toBe("here");
    if (typeof newest.older === "object") await fetchOlderPosts(getContext(tab), newest.older.before);
    expect((await look(tab)).texts).toEqual([...numbered(1, 30).reverse(), "three", "two", "one"]);
    poller.stop();
  });

  it("shows at once what was published here, and still counts what others published before it", async () => {
    const { server, benoit, tab } = await open();
    write(server, benoit, "old");
    const poller = await openFeed(tab);
    const top = (await look(tab)).posts[0]?.number ?? 0;
    write(server, benoit, "his");
    await enqueuePost(tab, "mine", undefined, "everyone");
    await eventually(async () => expect((await look(tab, top)).texts).toEqual(["mine", "old"]));
    await lookAgain(poller);
    expect(await look(tab, top)).toMatchObject({ texts: ["mine", "old"], newer: 1 });
    expect((await look(tab)).texts).toEqual(["mine", "his", "old"]);
    poller.stop();
  });

  it("misses nothing around a status published here at the end of a page", async () => {
    const { server, benoit, tab } = await open();
    write(server, benoit, "old");
    const poller = await openFeed(tab);
    write(server, benoit, ...numbered(1, 5));
    await enqueuePost(tab, "mine", undefined, "everyone");
    await eventually(() => expect(server.tala.texts).toContain("mine"));
    write(server, benoit, ...numbered(6, 4 + postPageRows));
    await lookAgain(poller);
    for (let { older } = await look(tab); older !== undefined && older !== "here"; { older } = await look(tab))
      await fetchOlderPosts(getContext(tab), older.before);
    expect((await look(tab)).texts).toEqual([...server.tala.texts].reverse());
    poller.stop();
  });

  it("keeps a status published here when a page made before does not contain it", async () => {
    const { server, benoit, tab } = await open();
    write(server, benoit, "old");
    const poller = await openFeed(tab);
    server.tala.cachedPage = server.tala.page();
    await enqueuePost(tab, "mine", undefined, "everyone");
    await eventually(async () => expect((await look(tab)).texts).toEqual(["mine", "old"]));
    await lookAgain(poller);
    expect((await look(tab)).texts).toEqual(["mine", "old"]);
    server.tala.cachedPage = undefined;
    await lookAgain(poller);
    expect((await look(tab)).texts).toEqual(["mine", "old"]);
    poller.stop();
  });

  it("shows statuses for contacts between the others, until their author excepts this person", async () => {
    const { server, amina, benoit, tab, store } = await open();
    server.tala.mayRead = () => true;
    write(server, benoit, ...numbered(1, postPageRows));
    for (const [author, audience] of [
      [benoit, "contacts"],
      [benoit, "nobody"],
      [amina, "nobody"],
    ] as const)
      server.tala.publish(author, createUuid(), `for ${audience}`, audience);
    write(server, benoit, "newest", "newer still");
    server.tala.publish(benoit, createUuid(), "last", "contacts");
    const poller = await openFeed(tab);
    const shown = ["last", "newer still", "newest", "for nobody", "for contacts", `post ${postPageRows}`];
    expect((await look(tab)).texts.slice(0, 6)).toEqual(shown);
    expect((await look(tab)).posts.map(({ audience }) => audience).slice(0, 5)).toEqual([
      "contacts",
      undefined,
      undefined,
      "nobody",
      "contacts",
    ]);
    for (let { older } = await look(tab); older !== undefined && older !== "here"; { older } = await look(tab))
      await fetchOlderPosts(getContext(tab), older.before);
    expect((await look(tab)).texts).toHaveLength(postPageRows + 5);
    server.tala.mayRead = () => false;
    await store.posts.toCollection().modify({ heardAt: 0 }); // longer ago than any cached page
    await lookAgain(poller);
    expect((await look(tab)).texts.slice(0, 4)).toEqual([
      "newer still",
      "newest",
      "for nobody",
      `post ${postPageRows}`,
    ]);
    expect(await store.posts.filter(({ content }) => content === "last" || content === "for contacts").count()).toBe(0);
    poller.stop();
  });

  it("hides a status for contacts at once when its author is no contact any more", async () => {
    const { server, benoit, tab, store } = await open();
    server.tala.mayRead = () => true;
    write(server, benoit, "for everyone");
    server.tala.publish(benoit, createUuid(), "for contacts", "contacts");
    const poller = await openFeed(tab);
    expect((await look(tab)).texts).toEqual(["for contacts", "for everyone"]);
    await store.people.update(benoit, { state: "none" });
    expect((await look(tab)).texts).toEqual(["for everyone"]);
    poller.stop();
  });

  it("stores no picture of a status that is not shown any more, whoever deleted it and wherever", async () => {
    const { server, amina, benoit, phone, tab, store } = await open();
    const posts = write(server, benoit, ...numbered(1, 5));
    const [ownPost] = write(server, amina, "mine");
    const poller = await openFeed(tab);
    const ids = [...posts, ownPost].map((post) => post?.id ?? "");
    const isKept = (...left: (string | undefined)[]) =>
      eventually(() => expect([...phone.postPictures].sort()).toEqual(left.sort()));
    for (const id of ids) phone.postPictures.add(id);
    server.tala.posts = server.tala.posts.filter(({ id }) => id !== ids[2]);
    await lookAgain(poller);
    await isKept(ids[0], ids[1], ids[3], ids[4], ids[5]);
    await deletePostOnServer(tab, ownPost?.id ?? createUuid());
    await isKept(ids[0], ids[1], ids[3], ids[4]);
    // A picture stored meanwhile, and pictures of people blocked meanwhile, are removed when the feed is opened next.
    poller.stop();
    phone.postPictures.add(ids[2] ?? "");
    await store.people.where("id").equals(benoit).modify({ blocked: 1 });
    (await openFeed(tab)).stop();
    await isKept();
  });

  it("removes at once what was deleted on another device, though an older page still contains it", async () => {
    const { server, amina, phone, tab } = await open();
    const [kept, gone] = write(server, amina, "kept", "gone");
    const poller = await openFeed(tab);
    phone.postPictures.add(kept?.id ?? "").add(gone?.id ?? "");
    server.tala.cachedPage = server.tala.page();
    await eventually(() => expect(tab.link.get()).toBe("online"));
    phone.sockets.at(-1)?.pushPostDeleted(gone?.id ?? createUuid());
    await eventually(async () => expect((await look(tab)).texts).toEqual(["kept"]));
    await eventually(() => expect([...phone.postPictures]).toEqual([kept?.id]));
    await lookAgain(poller);
    expect((await look(tab)).texts).toEqual(["kept"]);
    poller.stop();
  });

  it("removes what its author deleted, wherever it was listed", async () => {
    const { server, benoit, phone, tab } = await open();
    const posts = write(server, benoit, ...numbered(1, 5));
    const poller = await openFeed(tab);
    server.tala.posts = server.tala.posts.filter(({ number }) => number !== posts[2]?.number);
    await lookAgain(poller);
    expect((await look(tab)).texts).toEqual(["post 5", "post 4", "post 2", "post 1"]);
    // The newest status is kept until no page could be older than it.
    server.tala.posts = server.tala.posts.filter(({ number }) => number < (posts[4]?.number ?? 0));
    await lookAgain(poller);
    await phone.pass(feedFreshMs + 3_000);
    await lookAgain(poller);
    expect((await look(tab)).texts).toEqual(["post 4", "post 2", "post 1"]);
    poller.stop();
  });

  it("does not show a deleted status of the user again, though an older page still contains it", async () => {
    const { server, amina, benoit, tab } = await open();
    const [ownPost] = write(server, amina, "mine");
    write(server, benoit, "his");
    const poller = await openFeed(tab);
    server.tala.cachedPage = server.tala.page();
    await deletePostOnServer(tab, ownPost?.id ?? "");
    expect(server.tala.texts).toEqual(["his"]);
    expect((await look(tab)).texts).toEqual(["his"]);
    await lookAgain(poller);
    expect((await look(tab)).texts).toEqual(["his"]);
    poller.stop();
  });

  it("shows known people as everywhere else, whatever picture a page has: it would reveal who blocks the user", async () => {
    const { server, benoit, tab, store } = await open();
    write(server, benoit, "one");
    await eventually(async () => expect(await store.people.get(benoit)).toBeDefined());
    await store.people.update(benoit, { username: "Ben", avatar: "as-it-was.webp" });
    const poller = await openFeed(tab);
    expect((await look(tab)).posts[0]).toMatchObject({ username: "Ben", avatar: "as-it-was.webp", content: "one" });
    await store.people.delete(benoit);
    expect((await look(tab)).posts[0]).toMatchObject({ username: "Benoît", avatar: null });
    poller.stop();
  });

  it("hides statuses of blocked people, and shows them again after unblocking", async () => {
    const { server, amina, benoit, tab, store } = await open();
    write(server, amina, "mine");
    write(server, benoit, "his");
    const poller = await openFeed(tab);
    await eventually(async () => expect(await store.people.get(benoit)).toBeDefined());
    await store.people.update(benoit, { blocked: 1 });
    expect((await look(tab)).texts).toEqual(["mine"]);
    expect(await look(tab, 0)).toMatchObject({ newer: 1 });
    await store.people.update(benoit, { blocked: 0 });
    expect((await look(tab)).texts).toEqual(["his", "mine"]);
    poller.stop();
  });

  it("keeps only the newest two hundred once it is closed, and can be continued from there", async () => {
    const { server, benoit, tab, store } = await open();
    const texts = numbered(1, 260);
    write(server, benoit, ...texts);
    const poller = await openFeed(tab);
    for (let { older } = await look(tab); older !== undefined && older !== "here"; { older } = await look(tab))
      await fetchOlderPosts(getContext(tab), older.before);
    expect(await store.posts.count()).toBe(260);
    poller.stop();
    await eventually(async () => expect(await store.posts.count()).toBe(200));
    const { older } = await look(tab);
    if (typeof older === "object") await fetchOlderPosts(getContext(tab), older.before);
    expect((await look(tab)).texts).toEqual(texts.slice(-220).reverse());
  });
});

describe("polling for new statuses", () => {
  it("continues while the feed is open, costs nothing without news, and ends with the screen", async () => {
    const { server, benoit, phone, tab, store } = await open();
    write(server, benoit, "one");
    const looks = () => phone.requests.filter(({ path }) => path === "/api/tala").length;
    const poller = await openFeed(tab);
    const mark = await store.meta.get("feed");
    await eventually(() => expect(looks()).toBeGreaterThanOrEqual(3));
    expect(await store.meta.get("feed")).toEqual(mark);
    phone.isVisible = false;
    await phone.pass(2 * feedPollMs);
    const before = looks();
    await phone.pass(3 * feedPollMs);
    expect(looks()).toBe(before);
    phone.isVisible = true;
    phone.wake();
    await eventually(() => expect(looks()).toBe(before + 1));
    poller.stop();
    await phone.pass(3 * feedPollMs);
    expect(looks()).toBe(before + 1);
  });

  it("has a three times longer interval in data saver mode", async () => {
    const { phone, tab } = await open();
    const poller = new FeedPoller(tab, () => true);
    await eventually(() => expect(poller.status.get().at).toBe("seen"));
    const looks = () => phone.requests.filter(({ path }) => path === "/api/tala").length;
    await phone.pass(2 * feedPollMs);
    expect(looks()).toBe(1);
    await eventually(() => expect(looks()).toBe(2));
    poller.stop();
  });

  it("reports a failure, keeps the shown statuses, and retries when the connection is back", async () => {
    const { server, benoit, phone, tab } = await open();
    write(server, benoit, "one");
    await eventually(() => expect(tab.link.get()).toBe("online"));
    (await openFeed(tab)).stop();
    phone.shouldLose = ({ path }) => path === "/api/tala";
    const poller = new FeedPoller(tab, () => false);
    await eventually(() => expect(poller.status.get()).toEqual({ at: "failed", code: "offline" }));
    expect((await look(tab)).texts).toEqual(["one"]);
    write(server, benoit, "two");
    phone.shouldLose = () => false;
    const asked = phone.requests.length;
    const wokenAt = tab.platform.now();
    phone.wake();
    await eventually(() => expect(phone.requests.slice(asked).map(({ path }) => path)).toContain("/api/tala"));
    expect(tab.platform.now() - wokenAt).toBeLessThan(feedPollMs / 2); // before its regular time
    await eventually(async () => expect((await look(tab)).texts).toEqual(["two", "one"]));
    poller.stop();
  });

  it("returns the result of a running request if requested meanwhile", async () => {
    const { phone, tab } = await open();
    phone.shouldLose = ({ path }) => path === "/api/tala";
    const poller = new FeedPoller(tab, () => false);
    await eventually(() => expect(poller.status.get().at).toBe("failed"));
    phone.shouldLose = () => false;
    const asked = phone.requests.length;
    const answers = await Promise.all([poller.refresh(), poller.refresh()]);
    expect(answers).toEqual([{ at: "seen" }, { at: "seen" }]);
    // No request if it was just retried by itself.
    expect(phone.requests.slice(asked).filter(({ path }) => path === "/api/tala").length).toBeLessThan(2);
    poller.stop();
  });
});
