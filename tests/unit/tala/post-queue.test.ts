import { describe, expect, it, vi } from "vitest";
import { createUuid } from "#contract/ids.ts";
import { postGraphemesMax } from "#contract/limits/tala.ts";
import type { HttpRequest } from "#contract/wire/http-commands.ts";
import { readUnsentSummary } from "#sync/drafts/unsent-summary.ts";
import type { SyncClient } from "#sync/engine/sync-client.ts";
import { readDefaultAudience } from "#sync/feed/default-audience.ts";
import {
  cancelPost,
  enqueuePost,
  listPendingPosts,
  type OutgoingPicture,
  readPostOutcome,
  requeuePost,
  waitForPostOutcome,
} from "#sync/feed/post-queue.ts";
import { trimFileCache } from "#sync/files/download-cache.ts";
import { queueSettingsChange } from "#sync/operations/settings-commands.ts";
import { deleteAllButUnsent } from "#sync/store/open-database.ts";
import { readOwnProfile } from "#sync/store/own-profile-row.ts";
import { readSyncCursor, writeSyncCursor } from "#sync/store/sync-cursor.ts";
import { changePost } from "#sync/unsent/queued-posts.ts";
import { eventually } from "#tests/support/model/eventually.ts";
import { getContext } from "#tests/support/model/model-checks.ts";
import { makeDevice, makePair } from "#tests/support/model/model-fixtures.ts";
import type { ModelServer } from "#tests/support/model/model-server.ts";
import { listUnsentBytes } from "#tests/support/model/outgoing-files.ts";

const bytes = 12_345;
const picture: OutgoingPicture = {
  blob: new Blob([new Uint8Array(bytes)]),
  width: 400,
  height: 300,
  thumb: "abcdefgh",
};

const isTala = ({ path }: HttpRequest) => path.startsWith("/api/tala");
const isPost = (request: HttpRequest) => isTala(request) && request.method === "POST";

const waitingIn = async (tab: SyncClient): Promise<string[]> =>
  (await listPendingPosts(getContext(tab))).map(({ content, state }) => `${content} ${state}`);

/** Everything written is published, each once and in order, and nothing is left to be sent. */
const becomesPublished = (server: ModelServer, tab: SyncClient, ...texts: string[]): Promise<void> =>
  eventually(async () => {
    expect(server.tala.texts).toEqual(texts);
    expect(tab.unsent.list().posts.size).toBe(0);
    await eventually(async () => expect(await listUnsentBytes(tab)).toEqual([]));
  });

describe("a status being sent", () => {
  it("is awaited while the server is reachable, and not without network", async () => {
    const { server, amina } = makePair();
    const phone = makeDevice(server, amina);
    const tab = await phone.openTab();
    await eventually(() => expect(tab.link.get()).toBe("online"));
    // The timeout is never reached, however slow this machine is.
    const now = vi.spyOn(tab.platform, "now").mockReturnValue(tab.platform.now());
    expect(await waitForPostOutcome(tab, await enqueuePost(tab, "reached", undefined, "everyone"))).toBe("published");
    now.mockRestore();
    phone.isOnline = false;
    phone.faults.isOffline = true;
    const id = await enqueuePost(tab, "kept", undefined, "everyone");
    // A second check would wait for it.
    const after = vi.spyOn(tab.platform, "startTimer").mockImplementation(() => () => {});
    expect(await waitForPostOutcome(tab, id)).toBe("waiting");
    after.mockRestore();
    expect(await waitingIn(tab)).toEqual(["kept queued"]);
  });

  it("waits without network, then is published once with its picture, in the order of writing", async () => {
    const { server, amina } = makePair();
    const phone = makeDevice(server, amina);
    const tab = await phone.openTab();
    await eventually(async () => expect(await readOwnProfile(getContext(tab).store)).not.toBeNull());
    phone.faults.isOffline = true;
    await enqueuePost(tab, "  first\r\nline ", undefined, "everyone");
    await enqueuePost(tab, "second", picture, "everyone");
    await enqueuePost(tab, "third", undefined, "nobody");
    expect(await waitingIn(tab)).toEqual(["third queued", "second queued", "first\nline queued"]);
    expect((await readUnsentSummary(getContext(tab))).posts).toBe(3);
    phone.faults.isOffline = false;
    phone.wake();
    await becomesPublished(server, tab, "first\nline", "second", "third");
    expect(server.tala.posts[1]).toMatchObject({ bytes, picture: { width: 400, height: 300, thumb: "abcdefgh" } });
    expect(server.tala.posts.map(({ audience }) => audience)).toEqual(["everyone", "everyone", "nobody"]);
    const shown = await getContext(tab).store.posts.orderBy("number").toArray();
    expect(shown.map(({ audience }) => audience)).toEqual([undefined, undefined, "nobody"]);
    expect(shown.map(({ content, username, here }) => [content, username, here])).toEqual(
      server.tala.texts.map((text) => [text, "Amina", 1]),
    );
  });

  it("is sent in the order of writing, though the phone's clock is corrected meanwhile", async () => {
    const { server, amina } = makePair();
    const phone = makeDevice(server, amina);
    const tab = await phone.openTab();
    await eventually(() => expect(tab.link.get()).toBe("online"));
    phone.faults.isOffline = true;
    await eventually(() => expect(tab.link.get()).not.toBe("online"));
    await enqueuePost(tab, "before", undefined, "everyone");
    const { store } = getContext(tab);
    const cursor = await readSyncCursor(store);
    await writeSyncCursor(store, { ...cursor, skew: cursor.skew - 3_600_000 });
    await enqueuePost(tab, "after", undefined, "everyone");
    phone.faults.isOffline = false;
    phone.wake();
    await becomesPublished(server, tab, "before", "after");
  });

  it("is published once when the answer is lost, however often", async () => {
    const { server, amina } = makePair();
    const phone = makeDevice(server, amina);
    const tab = await phone.openTab();
    let lost = 0;
    phone.shouldLose = (request, what) => isPost(request) && what === "answer" && lost++ < 3;
    await enqueuePost(tab, "once", picture, "everyone");
    await becomesPublished(server, tab, "once");
    expect(server.tala.posts[0]?.arrivals).toBe(4);
  });

  it("continues in a page opened later, at whichever step its page was closed", async () => {
    for (const step of ["before it is sent", "on its way", "before its answer"] as const) {
      const { server, amina } = makePair();
      const phone = makeDevice(server, amina);
      const first = await phone.openTab();
      if (step === "before it is sent") phone.faults.isOffline = true;
      let hasCome = false;
      phone.shouldLose = (request, what) => {
        const isIt = isPost(request) && what === (step === "on its way" ? "request" : "answer");
        hasCome ||= isIt;
        return isIt;
      };
      await enqueuePost(first, step, picture, "everyone");
      if (step !== "before it is sent") await eventually(() => expect(hasCome).toBe(true));
      await phone.kill(first);
      phone.faults.isOffline = false;
      phone.shouldLose = () => false;
      await becomesPublished(server, await phone.openTab(), step);
      await phone.closeTabs();
    }
  });

  it("written in a follower tab is sent by the leader, and by the next leader when that is closed", async () => {
    const { server, amina } = makePair();
    const phone = makeDevice(server, amina);
    const [leader, other] = [await phone.openTab(), await phone.openTab()];
    await eventually(() => expect([leader.isLeader, other.isLeader]).toEqual([true, false]));
    await enqueuePost(other, "through the other", undefined, "everyone");
    await becomesPublished(server, other, "through the other");
    phone.faults.isOffline = true;
    await enqueuePost(leader, "left behind", undefined, "everyone");
    await phone.kill(leader);
    phone.faults.isOffline = false;
    await becomesPublished(server, other, "through the other", "left behind");
    expect(server.tala.posts.map(({ arrivals }) => arrivals)).toEqual([1, 1]);
  });

  it("refused permanently stays with the reason, delays nothing else, and is sent again on request", async () => {
    const { server, amina } = makePair();
    const tab = await makeDevice(server, amina).openTab();
    let isRefusing = true;
    server.tala.refuse = (_, { body }) =>
      isRefusing && body instanceof FormData && String(body.get("post")).includes("wrong")
        ? { error: "not_an_image" }
        : undefined;
    const id = await enqueuePost(tab, "wrong", picture, "everyone");
    await enqueuePost(tab, "good", undefined, "everyone");
    await eventually(async () =>
      expect(await listPendingPosts(getContext(tab))).toMatchObject([{ id, state: "failed", error: "not_an_image" }]),
    );
    expect(server.tala.texts).toEqual(["good"]);
    isRefusing = false;
    await requeuePost(tab, id);
    await becomesPublished(server, tab, "good", "wrong");
    expect(server.tala.posts[1]).toMatchObject({ id, bytes });
  });

  it("that the server could not accept for a week fails, and is sent again on request", async () => {
    const { server, amina } = makePair();
    const phone = makeDevice(server, amina);
    const tab = await phone.openTab();
    phone.faults.isOffline = true;
    const id = await enqueuePost(tab, "old", undefined, "everyone");
    const createdAt = phone.now() - 8 * 24 * 3_600_000;
    await tab.unsent.changeAll([changePost(id, phone.now(), (row) => ({ ...row, createdAt }))]);
    phone.wake();
    // A week without network does not count, because the server did not fail.
    await phone.pass(20_000);
    expect(await waitingIn(tab)).toEqual(["old queued"]);
    server.tala.refuse = () => ({ error: "internal" });
    phone.faults.isOffline = false;
    phone.wake();
    await eventually(async () =>
      expect(await listPendingPosts(getContext(tab))).toMatchObject([{ state: "failed", error: "unavailable" }]),
    );
    server.tala.refuse = () => undefined;
    await requeuePost(tab, id);
    await becomesPublished(server, tab, "old");
  });

  it("waits as long as the server says, also if the connection returns meanwhile, and a later one does not overtake it", async () => {
    const { server, amina } = makePair();
    const phone = makeDevice(server, amina);
    const tab = await phone.openTab();
    const asked: number[] = [];
    server.tala.refuse = (_, request) => {
      if (!isPost(request)) return undefined;
      asked.push(phone.now());
      return asked.length === 1 ? { error: "rate_limited", retryAfterMs: 8_000 } : undefined;
    };
    await eventually(() => expect(tab.link.get()).toBe("online"));
    await enqueuePost(tab, "one", undefined, "everyone");
    await phone.pass(1);
    await enqueuePost(tab, "two", undefined, "everyone");
    await eventually(() => expect(asked).toHaveLength(1));
    phone.sockets.at(-1)?.end(1006);
    await eventually(() => expect(phone.sockets.length).toBeGreaterThan(1));
    await becomesPublished(server, tab, "one", "two");
    expect((asked[1] ?? 0) - (asked[0] ?? 0)).toBeGreaterThanOrEqual(8_000);
  });

  it("cancelled before sending is never sent; cancelled during sending it is deleted on the server too", async () => {
    const { server, amina } = makePair();
    const phone = makeDevice(server, amina);
    const tab = await phone.openTab();
    phone.faults.isOffline = true;
    const unsent = await enqueuePost(tab, "never sent", picture, "everyone");
    await cancelPost(tab, unsent);
    await eventually(async () => expect(await listUnsentBytes(tab)).toEqual([]));
    phone.faults.isOffline = false;
    // The server has it, and this phone does not know.
    phone.shouldLose = (request, what) => isPost(request) && what === "answer";
    const sent = await enqueuePost(tab, "sent after all", picture, "everyone");
    await eventually(() => expect(server.tala.texts).toEqual(["sent after all"]));
    await cancelPost(tab, sent);
    expect(await waitingIn(tab)).toEqual([]);
    expect((await readUnsentSummary(getContext(tab))).posts).toBe(0);
    phone.shouldLose = () => false;
    phone.wake();
    await becomesPublished(server, tab);
    expect([...server.tala.deletedIds]).toEqual([sent]);
    expect(await getContext(tab).store.posts.count()).toBe(0);
  });

  it("cancelled during sending is deleted on the server as soon as it arrived, and never shown here", async () => {
    const { server, amina } = makePair();
    const phone = makeDevice(server, amina);
    const tab = await phone.openTab();
    await eventually(() => expect(tab.link.get()).toBe("online"));
    phone.answerMs = 4_000;
    const id = await enqueuePost(tab, "too late", picture, "everyone");
    await eventually(() => expect(server.tala.texts).toEqual(["too late"]));
    await cancelPost(tab, id);
    await becomesPublished(server, tab);
    expect(await getContext(tab).store.posts.count()).toBe(0);
  });

  it("published in the moment of its cancellation is deleted for everybody", async () => {
    const { server, amina } = makePair();
    const tab = await makeDevice(server, amina).openTab();
    const id = await enqueuePost(tab, "too late", undefined, "everyone");
    await becomesPublished(server, tab, "too late");
    await cancelPost(tab, id);
    expect(server.tala.texts).toEqual([]);
  });

  it("has one of the states waiting, published, or neither once cancelled", async () => {
    const { server, amina } = makePair();
    const phone = makeDevice(server, amina);
    const tab = await phone.openTab();
    await eventually(() => expect(tab.link.get()).toBe("online"));
    const context = getContext(tab);
    const published = await enqueuePost(tab, "stays", undefined, "everyone");
    await becomesPublished(server, tab, "stays");
    expect(await readPostOutcome(context, published)).toBe("published");
    phone.answerMs = 4_000;
    const dropped = await enqueuePost(tab, "too late", picture, "everyone");
    expect(await readPostOutcome(context, dropped)).toBe("waiting");
    await eventually(() => expect(server.tala.texts).toEqual(["stays", "too late"]));
    await cancelPost(tab, dropped);
    expect(await readPostOutcome(context, dropped)).toBe("takenBack");
    await becomesPublished(server, tab, "stays");
    expect(await readPostOutcome(context, dropped)).toBe("takenBack");
  });

  it("that was deleted on another device is no failure", async () => {
    const { server, amina } = makePair();
    const phone = makeDevice(server, amina);
    const tab = await phone.openTab();
    phone.faults.isOffline = true;
    const id = await enqueuePost(tab, "not any more", undefined, "everyone");
    server.tala.deletedIds.add(id);
    phone.faults.isOffline = false;
    phone.wake();
    await becomesPublished(server, tab);
  });

  it("whose picture is lost fails instead of being published without it", async () => {
    const { server, amina } = makePair();
    const phone = makeDevice(server, amina);
    const tab = await phone.openTab();
    phone.faults.isOffline = true;
    const id = await enqueuePost(tab, "look", picture, "everyone");
    await phone.pass(5_000); // an attempt that has read them is over
    await tab.unsent.bytes.delete([id]);
    phone.faults.isOffline = false;
    phone.wake();
    await eventually(async () =>
      expect(await listPendingPosts(getContext(tab))).toMatchObject([{ state: "failed", error: "file_not_found" }]),
    );
    expect(server.tala.texts).toEqual([]);
  });

  it("survives the expiry of its session, and days on a phone that evicts data", async () => {
    const { server, amina } = makePair();
    const phone = makeDevice(server, amina);
    const before = await phone.openTab();
    phone.faults.isOffline = true;
    await enqueuePost(before, "still here", picture, "everyone");
    const age = 3 * 24 * 3_600_000;
    const context = { ...getContext(before), platform: { ...phone.platform(), now: () => phone.now() + age } };
    await trimFileCache(context);
    await eventually(async () => expect(await listUnsentBytes(before)).toHaveLength(1));
    await phone.close(before);
    await deleteAllButUnsent(phone.platform(), amina);
    phone.faults.isOffline = false;
    const after = await phone.openTab();
    await becomesPublished(server, after, "still here");
    expect(server.tala.posts[0]).toMatchObject({ bytes });
  });

  it("survives the replacement of the local database", async () => {
    const { server, amina } = makePair();
    const phone = makeDevice(server, amina);
    const tab = await phone.openTab();
    phone.faults.isOffline = true;
    await enqueuePost(tab, "rescued", picture, "everyone");
    // The database fails twice in a row and is no longer trusted.
    getContext(tab).reportStoreFailure(new Error("broken"));
    await eventually(() => expect(tab.context.get()).toBeDefined());
    await eventually(async () => expect(await waitingIn(tab)).toEqual(["rescued queued"]));
    getContext(tab).reportStoreFailure(new Error("broken again"));
    await eventually(() => expect(phone.notices).toContain("store-reset"));
    phone.faults.isOffline = false;
    phone.wake();
    await becomesPublished(server, tab, "rescued");
    expect(server.tala.posts[0]).toMatchObject({ bytes });
  });
});

describe("an invalid status", () => {
  it("is refused before it is stored", async () => {
    const { server, amina } = makePair();
    const tab = await makeDevice(server, amina).openTab();
    await expect(enqueuePost(tab, " \n\u200b ", undefined, "everyone")).rejects.toMatchObject({ code: "empty_post" });
    const family = "👨‍👩‍👧‍👦";
    await expect(enqueuePost(tab, "é".repeat(postGraphemesMax + 1), undefined, "everyone")).rejects.toMatchObject({
      code: "post_too_long",
    });
    // Few characters to the eye, many code units.
    await expect(enqueuePost(tab, family.repeat(postGraphemesMax), undefined, "everyone")).rejects.toMatchObject({
      code: "post_too_long",
    });
    const heavy = { ...picture, blob: new Blob([new Uint8Array(2_000_000)]) };
    await expect(enqueuePost(tab, "", heavy, "everyone")).rejects.toMatchObject({ code: "file_too_large" });
    expect(await waitingIn(tab)).toEqual([]);
    await enqueuePost(tab, "", picture, "everyone");
    await enqueuePost(tab, "😀".repeat(postGraphemesMax), undefined, "everyone");
    await becomesPublished(server, tab, "", "😀".repeat(postGraphemesMax));
  });
});

describe("a status for contacts, with a change of its audience that the server does not have", () => {
  const queueRestricted = async (tab: SyncClient, text: string) => {
    const excepted = createUuid();
    await queueSettingsChange(tab, { statusesTo: "contacts_except", exceptions: { statusesTo: [excepted] } });
    await enqueuePost(tab, text, undefined, "contacts_except");
    return excepted;
  };

  const openOnline = async () => {
    const { server, amina } = makePair();
    const phone = makeDevice(server, amina);
    const tab = await phone.openTab();
    await eventually(() => expect(tab.link.get()).toBe("online"));
    return { server, amina, phone, tab };
  };

  it("waits for that change", async () => {
    const { server, amina, phone, tab } = await openOnline();
    server.settingsRefusal = "rate_limited";
    await enqueuePost(tab, "for everyone", undefined, "everyone");
    await becomesPublished(server, tab, "for everyone");
    const excepted = await queueRestricted(tab, "not for Ben");
    await phone.pass(20_000);
    expect(server.tala.texts).toEqual(["for everyone"]);
    expect(await waitingIn(tab)).toEqual(["not for Ben queued"]);
    server.settingsRefusal = undefined;
    const hasExceptions: boolean[] = [];
    server.tala.refuse = (_, request) => {
      const { exceptions } = server.inbox(amina).settings?.kept.settings ?? {};
      if (isPost(request)) hasExceptions.push(exceptions?.statusesTo?.[0] === excepted);
      return undefined;
    };
    phone.wake();
    await becomesPublished(server, tab, "for everyone", "not for Ben");
    expect(hasExceptions).toEqual([true]);
  });

  it("follows it at once after a time without network", async () => {
    const { server, phone, tab } = await openOnline();
    phone.faults.isOffline = true;
    await queueRestricted(tab, "not for Ben");
    const before = phone.requests.length;
    phone.faults.isOffline = false;
    phone.wake();
    await becomesPublished(server, tab, "not for Ben");
    const sent = phone.requests.slice(before).filter(({ method }) => method === "PATCH" || method === "POST");
    expect(sent.map(({ path }) => path)).toEqual(["/api/settings", "/api/tala"]);
  });

  it("fails if the change is refused for good, and is sent again on request after the same change", async () => {
    const { server, amina, phone, tab } = await openOnline();
    phone.faults.isOffline = true;
    const excepted = await queueRestricted(tab, "not for Ben");
    await enqueuePost(tab, "for nobody", undefined, "nobody");
    server.settingsRefusal = "invalid_input";
    phone.faults.isOffline = false;
    phone.wake();
    await eventually(() => expect(server.tala.texts).toEqual(["for nobody"]));
    await eventually(async () => expect(await waitingIn(tab)).toEqual(["not for Ben failed"]));
    expect(phone.notices).toEqual(["settings-refused"]);
    const [{ id } = { id: createUuid() }] = await listPendingPosts(getContext(tab));
    await requeuePost(tab, id);
    await eventually(() => expect(phone.notices).toHaveLength(2));
    await eventually(async () => expect(await waitingIn(tab)).toEqual(["not for Ben failed"]));
    server.settingsRefusal = undefined;
    const exceptions: unknown[] = [];
    server.tala.refuse = (_, request) => {
      if (isPost(request)) exceptions.push(server.inbox(amina).settings?.kept.settings.exceptions.statusesTo);
      return undefined;
    };
    await requeuePost(tab, id);
    await becomesPublished(server, tab, "for nobody", "not for Ben");
    expect(exceptions).toEqual([[excepted]]);
  });
});

it("the audience by the settings is unknown on a new device until the settings arrive, and a status then names none", async () => {
  const { server, amina } = makePair();
  const tab = await makeDevice(server, amina).openTab();
  await queueSettingsChange(tab, { statusesTo: "contacts" });
  await eventually(() => expect(server.inbox(amina).settings?.kept.settings.statusesTo).toBe("contacts"));
  const phone = makeDevice(server, amina);
  phone.faults.isOffline = true;
  const first = await phone.openTab();
  const context = getContext(first);
  expect(await readDefaultAudience(context)).toBeUndefined();
  await enqueuePost(first, "as set", undefined, undefined);
  const sent: unknown[] = [];
  server.tala.refuse = (_, request) => {
    if (isPost(request) && request.body instanceof FormData) sent.push(JSON.parse(String(request.body.get("post"))));
    return undefined;
  };
  phone.faults.isOffline = false;
  phone.wake();
  await becomesPublished(server, first, "as set");
  expect(sent).toEqual([{ id: server.tala.posts[0]?.id, content: "as set" }]);
  await eventually(async () => expect(await readDefaultAudience(context)).toBe("contacts"));
});
