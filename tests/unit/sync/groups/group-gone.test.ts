import { afterEach, describe, expect, it, vi } from "vitest";
import type { ConversationId, Uuid } from "#contract/ids.ts";
import { deleteRecordingDraft, discardDrafts } from "#sync/drafts/delete-drafts.ts";
import { DraftKeeper } from "#sync/drafts/draft-keeper.ts";
import { readUnsentContent } from "#sync/drafts/draft-rows.ts";
import { TextDrafts } from "#sync/drafts/text-drafts.ts";
import { readUnsentSummary } from "#sync/drafts/unsent-summary.ts";
import { appendRecordingChunk, findRecordingDraft } from "#sync/drafts/voice-drafts.ts";
import { fetchAndCacheFile } from "#sync/files/download-cache.ts";
import { syncMemberList } from "#sync/inbound/member-loader.ts";
import { clearConversationHistory, setConversationMuted } from "#sync/outbox/conversation-commands.ts";
import { discardUnsentMessage, enqueueText, retryFailedMessage } from "#sync/outbox/enqueue.ts";
import { enqueueBroadcast } from "#sync/outbox/multicast.ts";
import { readChat } from "#sync/queries/chat-messages.ts";
import { readConversation, readTextDraft } from "#sync/queries/conversation.ts";
import { purgeAllButUnsent } from "#sync/store/recovery/open-database.ts";
import { readSyncCursor, writeSyncCursor } from "#sync/store/sync-cursor.ts";
import type { Tab } from "#sync/tabs/tab.ts";
import { eventually } from "#tests/support/model/eventually.ts";
import {
  getContext,
  listConversations,
  listShown,
  listTexts,
  waitUntilDeviceSynced,
} from "#tests/support/model/model-checks.ts";
import { makeDevice, makeGroup } from "#tests/support/model/model-fixtures.ts";
import type { ModelServer } from "#tests/support/model/model-server.ts";
import {
  countUnsent,
  fourPartSize,
  getOnlyFile,
  isPart,
  makePicture,
  sendFiles,
} from "#tests/support/model/outgoing-files.ts";

afterEach(() => {
  vi.restoreAllMocks();
});

const rowIn = async (tab: Tab, chat: ConversationId) => (await listConversations(tab)).find(({ id }) => id === chat);

/** Data of a group in the store besides its row. */
const heldOf = async (tab: Tab, group: Uuid) => {
  const { store } = getContext(tab);
  const [messages, members, roster] = await Promise.all([
    store.queryMessages(group, 0).count(),
    store.queryMembers(group).count(),
    store.meta.get(`roster:${group}`),
  ]);
  return { messages, members, roster };
};

const nothing = { messages: 0, members: 0, roster: undefined };

const isGone = (tab: Tab, group: Uuid) =>
  eventually(async () => expect(await getContext(tab).store.conversations.get(group)).toMatchObject({ gone: true }));

const sentTo = (server: ModelServer, group: Uuid) =>
  server.executedCommands.filter(({ command }) => command.type === "send" && command.conversation === group);

describe("a group from which the user was removed", () => {
  it("leaves nothing on any of the user's devices: no message, no file, no member, no row in the list", async () => {
    const { server, amina, benoit, group } = makeGroup();
    const benoitTab = await makeDevice(server, benoit).openTab();
    const laptop = await makeDevice(server, benoit).openTab();
    const aminaTab = await makeDevice(server, amina).openTab();
    await sendFiles(aminaTab, group, makePicture(2_000));
    for (const tab of [aminaTab, benoitTab, laptop]) await waitUntilDeviceSynced(server, tab, group);
    const file = getOnlyFile(server).id;
    await fetchAndCacheFile(getContext(benoitTab), group, { file, mime: "image/jpeg", size: 2_000 });
    await syncMemberList(getContext(benoitTab), group);
    expect(await heldOf(benoitTab, group)).toMatchObject({ messages: 2, members: 3 });
    expect(await getContext(benoitTab).store.blobs.count()).toBe(1);
    server.changeGroup(amina, group, { type: "remove", user: benoit });
    for (const tab of [benoitTab, laptop]) {
      await isGone(tab, group);
      expect(await heldOf(tab, group)).toEqual(nothing);
      expect(await rowIn(tab, group)).toBeUndefined();
      expect(await listTexts(tab, group)).toEqual([]);
      const { store } = getContext(tab);
      await eventually(async () => expect(await store.blobs.count()).toBe(0));
      expect(await readConversation(store, benoit, group)).toMatchObject({
        gone: true,
        open: false,
        unread: 0,
        group: { name: "Famille" },
      });
    }
    await waitUntilDeviceSynced(server, aminaTab, group);
    expect(await listTexts(aminaTab, group)).toEqual(["event", "image", "event"]);
  });

  it("loses the pictures of the group and of people known only from it", async () => {
    const { server, amina, benoit, chantal, group } = makeGroup();
    const dieu = server.addPerson("Dieudonné");
    server.changeGroup(amina, group, { type: "add", users: [dieu] });
    server.createGroup(benoit, "Autres", [dieu]);
    const phone = makeDevice(server, benoit);
    const tab = await phone.openTab();
    await waitUntilDeviceSynced(server, tab, group);
    const context = getContext(tab);
    for (const { id, kind } of await listConversations(tab)) if (kind === "group") await syncMemberList(context, id);
    await context.store.members.toCollection().modify({ avatar: "photo" });
    server.changeGroup(amina, group, { type: "remove", user: benoit });
    await isGone(tab, group);
    await eventually(() => expect([...phone.deletedPictures]).toEqual([group, chantal]));
  });

  it("keeps unsent messages failed and readable, and none is sent on a retry", async () => {
    const { server, amina, benoit, group, withBenoit } = makeGroup();
    const phone = makeDevice(server, benoit);
    const tab = await phone.openTab();
    await waitUntilDeviceSynced(server, tab, group);
    phone.faults.isOffline = true;
    await eventually(() => expect(tab.link.get()).not.toBe("online"));
    await enqueueText(tab, group, "unsent");
    await sendFiles(tab, group, makePicture(2_000, "unsent too"));
    await enqueueBroadcast(tab, [group, withBenoit], "to both");
    server.changeGroup(amina, group, { type: "remove", user: benoit });
    phone.faults.isOffline = false;
    phone.wake();
    await isGone(tab, group);
    await waitUntilDeviceSynced(server, tab, withBenoit);
    const failed = ["unsent failed", "image failed", "to both failed"];
    await eventually(async () => expect(await listShown(tab, group)).toEqual(failed));
    expect(await listTexts(tab, withBenoit)).toEqual(["to both"]);
    await phone.pass(2_000); // The server was asked what became of queued messages.
    const { length: before } = sentTo(server, group);
    const { store } = getContext(tab);
    const { items } = await readChat(store, group, 10);
    expect(items.every(({ error }) => error === "conversation_not_found")).toBe(true);
    expect(await rowIn(tab, group)).toMatchObject({ gone: true, open: false, unread: 0, last: { status: "failed" } });
    // The picture is still shown, and its file is not sent.
    expect(await countUnsent(tab)).toEqual({ outbox: 3, uploads: 1, blobs: 1 });
    expect(await store.uploads.toArray()).toMatchObject([{ state: "failed" }]);
    for (const { cid } of items)
      await expect(retryFailedMessage(tab, cid ?? "")).rejects.toMatchObject({ code: "conversation_not_found" });
    await enqueueText(tab, group, "written too late");
    await sendFiles(tab, group, makePicture(1_000));
    expect(await listShown(tab, group)).toEqual([...failed, "written too late failed", "image failed"]);
    await phone.pass(20_000);
    expect(sentTo(server, group)).toHaveLength(before);
    expect(server.log(group).messages.every(({ author }) => author === amina)).toBe(true);
    expect([...server.files.all.values()].every(({ isReady }) => !isReady)).toBe(true);
    // Discarded one by one, the last one removes the group from the list.
    const left = (await store.queryUnsent(group).toArray()).map(({ cid }) => cid);
    for (const cid of left.slice(1)) await discardUnsentMessage(tab, cid);
    expect(await rowIn(tab, group)).toMatchObject({ last: { body: { text: "unsent" } } });
    await discardUnsentMessage(tab, left[0] ?? "");
    expect(await rowIn(tab, group)).toBeUndefined();
    await eventually(async () => expect(await countUnsent(tab)).toEqual({ outbox: 0, uploads: 0, blobs: 0 }));
  });

  it("is sent no further parts of a file, unless it has another recipient too", async () => {
    const { server, amina, benoit, group, withBenoit } = makeGroup();
    const phone = makeDevice(server, benoit);
    const tab = await phone.openTab();
    await waitUntilDeviceSynced(server, tab, group);
    let parts = 0;
    phone.shouldLose = (request, what) => what === "answer" && isPart(request) && ++parts > 0;
    const { enqueueFiles } = await import("#sync/files/send-files.ts");
    await sendFiles(tab, group, makePicture(fourPartSize));
    await enqueueFiles(tab, [group, withBenoit], [makePicture(1_500, "for both")]);
    await eventually(() => expect(parts).toBeGreaterThan(2));
    server.changeGroup(amina, group, { type: "remove", user: benoit });
    await isGone(tab, group);
    phone.shouldLose = () => false;
    await waitUntilDeviceSynced(server, tab, withBenoit);
    expect(await listTexts(tab, withBenoit)).toEqual(["image"]);
    await eventually(async () =>
      expect(await getContext(tab).store.uploads.toArray()).toMatchObject([{ state: "failed", size: fourPartSize }]),
    );
    const asked = phone.requests.filter(({ path }) => path.startsWith("/api/files/")).length;
    await phone.pass(60_000);
    expect(phone.requests.filter(({ path }) => path.startsWith("/api/files/"))).toHaveLength(asked);
    expect(await listShown(tab, group)).toEqual(["image failed", "image failed"]);
    // Both pictures are still shown.
    expect(await getContext(tab).store.blobs.count()).toBe(2);
  });

  it("is sent no further parts of a file whose upload runs while it disappears", async () => {
    const { server, amina, benoit, group } = makeGroup();
    const phone = makeDevice(server, benoit);
    const tab = await phone.openTab();
    await waitUntilDeviceSynced(server, tab, group);
    // One part arrives; the others are held until its group has gone.
    let letGo = (): void => {};
    const gone = new Promise<void>((resolve) => {
      letGo = resolve;
    });
    const under: (AbortSignal | undefined)[] = [];
    const { request } = tab.platform;
    vi.spyOn(tab.platform, "request").mockImplementation(async (asked, options) => {
      if (isPart(asked) && !asked.path.endsWith("/0")) {
        under.push(options?.signal);
        await gone;
      }
      return request(asked, options);
    });
    await sendFiles(tab, group, makePicture(fourPartSize));
    await eventually(() => expect(getOnlyFile(server).parts.size).toBe(1));
    await eventually(() => expect(under).toHaveLength(3));
    server.changeGroup(amina, group, { type: "remove", user: benoit });
    await isGone(tab, group);
    await eventually(() => expect(under.every((signal) => signal?.aborted)).toBe(true));
    letGo();
    await phone.pass(40_000);
    expect(getOnlyFile(server)).toMatchObject({ isReady: false, parts: { size: 1 } });
    expect(await getContext(tab).store.uploads.toArray()).toMatchObject([{ state: "failed" }]);
  });

  it("does not receive a failed file on a retry, while the other conversations do", async () => {
    const { server, amina, benoit, group, withBenoit } = makeGroup();
    const phone = makeDevice(server, benoit);
    const tab = await phone.openTab();
    await waitUntilDeviceSynced(server, tab, group);
    server.files.refuse = () => ({ error: "file_too_large" });
    const { enqueueFiles } = await import("#sync/files/send-files.ts");
    await enqueueFiles(tab, [withBenoit, group], [makePicture(1_500)]);
    await eventually(async () => expect(await listShown(tab, withBenoit)).toEqual(["image failed"]));
    server.changeGroup(amina, group, { type: "remove", user: benoit });
    await isGone(tab, group);
    server.files.refuse = () => undefined;
    const [unsent] = await getContext(tab).store.queryUnsent(withBenoit).toArray();
    await retryFailedMessage(tab, unsent?.cid ?? "");
    await waitUntilDeviceSynced(server, tab, withBenoit);
    await eventually(async () => expect(await listShown(tab, withBenoit)).toEqual(["image sent"]));
    expect(await listShown(tab, group)).toEqual(["image failed"]);
    expect(sentTo(server, group)).toEqual([]);
  });

  it("stays in the list for a draft until it is discarded, and both go with the conversation", async () => {
    const { server, amina, benoit, group } = makeGroup();
    const tab = await makeDevice(server, benoit).openTab();
    await waitUntilDeviceSynced(server, tab, group);
    const drafts = new TextDrafts(tab);
    drafts.save(group, "half a sentence");
    await drafts.flush();
    server.changeGroup(amina, group, { type: "end" });
    await isGone(tab, group);
    expect(await rowIn(tab, group)).toMatchObject({ gone: true, draft: "half a sentence", last: { body: null } });
    drafts.save(group, "");
    await drafts.flush();
    expect(await rowIn(tab, group)).toBeUndefined();
    drafts.save(group, "written in a tab that had not heard");
    await drafts.flush();
    await enqueueText(tab, group, "sent there");
    drafts.save(group, "again half");
    await drafts.flush();
    expect(await rowIn(tab, group)).toMatchObject({ gone: true, draft: "again half" });
    await clearConversationHistory(tab, group, false);
    expect(await rowIn(tab, group)).toBeUndefined();
    expect(await readTextDraft(getContext(tab).store, group)).toBe("");
    expect(await countUnsent(tab)).toEqual({ outbox: 0, uploads: 0, blobs: 0 });
    expect(server.executedCommands.some(({ command }) => command.type === "clearHistory")).toBe(false);
  });

  it("stays in the list for attachments or a recording as for a draft, until discarded", async () => {
    const { server, amina, benoit, group } = makeGroup();
    const phone = makeDevice(server, benoit);
    const first = await phone.openTab();
    await waitUntilDeviceSynced(server, first, group);
    const photo = new File(["photo"], "fête.jpg", { type: "image/jpeg" });
    const choose = async (tab: Tab) => {
      const keeper = await DraftKeeper.open(tab, group);
      const captions = new Map([[photo, "Maman"]]);
      keeper?.save({ files: [photo], captions, isOriginal: false, text: "", to: [] });
      await keeper?.close();
    };
    const speak = (tab: Tab, startedAt: number) =>
      appendRecordingChunk(
        tab,
        { conversation: group, startedAt, mime: "audio/webm", ms: 900, levels: [1] },
        new Blob(["spoken"]),
      );
    const leftIn = (tab: Tab) => readUnsentContent(getContext(tab).store, group);
    const emptied = { messages: 0, posts: 0, drafts: 0, deletions: 0, edits: 0 };
    await choose(first);
    server.changeGroup(amina, group, { type: "remove", user: benoit });
    await isGone(first, group);
    expect(await rowIn(first, group)).toMatchObject({ gone: true, last: { body: null } });
    await phone.kill(first);
    const tab = await phone.openTab();
    const { store } = getContext(tab);
    expect(await rowIn(tab, group)).toMatchObject({ gone: true });
    const { files } = await leftIn(tab);
    expect(files).toMatchObject([{ name: "fête.jpg", caption: "Maman" }]);
    expect(await (await store.blobs.get(files[0]?.id ?? ""))?.blob.text()).toBe("photo");
    // Each keeps it without the other, and a recording that ends only now is still stored.
    await speak(tab, 1);
    await discardDrafts(tab, group);
    expect(await rowIn(tab, group)).toMatchObject({ gone: true });
    expect(await leftIn(tab)).toEqual({ files: [], recordings: [{ startedAt: 1, ms: 900 }] });
    await deleteRecordingDraft(tab, group);
    expect(await rowIn(tab, group)).toBeUndefined();
    // A choice in a tab that was not notified restores the row; both go with the conversation.
    await choose(tab);
    expect(await rowIn(tab, group)).toMatchObject({ gone: true });
    await speak(tab, 2);
    await clearConversationHistory(tab, group, false);
    expect(await rowIn(tab, group)).toBeUndefined();
    expect(await readUnsentSummary(getContext(tab))).toEqual(emptied);
    expect([await store.blobs.count(), await store.chunks.count()]).toEqual([0, 0]);
    // A returning member finds it unchanged.
    await choose(tab);
    await speak(tab, 3);
    server.changeGroup(amina, group, { type: "add", users: [benoit] });
    await waitUntilDeviceSynced(server, tab, group);
    expect(await rowIn(tab, group)).toMatchObject({ gone: false });
    const again = await DraftKeeper.open(tab, group);
    expect((await again?.load())?.files).toHaveLength(1);
    await again?.close();
    expect(await findRecordingDraft(tab, group)).toMatchObject({ startedAt: 3 });
  });

  it("always has its row in the list while unsent content of it is stored, whenever the page dies", async () => {
    const { server, amina, benoit, group } = makeGroup();
    const tab = await makeDevice(server, benoit).openTab();
    await waitUntilDeviceSynced(server, tab, group);
    server.changeGroup(amina, group, { type: "remove", user: benoit });
    await isGone(tab, group);
    const { store } = getContext(tab);
    const put = vi.spyOn(store.conversations, "put").mockRejectedValue(new Error("as if the page had died"));
    vi.spyOn(console, "warn").mockImplementation(() => {});
    const keeper = await DraftKeeper.open(tab, group);
    const photo = new File(["photo"], "fête.jpg", { type: "image/jpeg" });
    keeper?.save({ files: [photo], captions: new Map(), isOriginal: false, text: "", to: [] });
    await keeper?.close();
    const recording = { conversation: group, startedAt: 1, mime: "audio/webm", ms: 900, levels: [1] };
    await expect(appendRecordingChunk(tab, recording, new Blob(["spoken"]))).rejects.toThrow();
    const drafts = new TextDrafts(tab);
    drafts.save(group, "typed");
    await expect(drafts.flush()).rejects.toThrow();
    expect(put).toHaveBeenCalled();
    expect(await readUnsentContent(store, group)).toEqual({ files: [], recordings: [] });
    expect(await readTextDraft(store, group)).toBe("");
    put.mockRestore();
    await drafts.flush();
    expect(await rowIn(tab, group)).toMatchObject({ gone: true, draft: "typed" });
  });

  it("is shown from then on to a returning member, and failed messages stay failed until retried", async () => {
    const { server, amina, benoit, group } = makeGroup();
    const phone = makeDevice(server, benoit);
    const tab = await phone.openTab();
    server.sendTexts(amina, group, "before");
    await waitUntilDeviceSynced(server, tab, group);
    await setConversationMuted(tab, group, true);
    server.changeGroup(amina, group, { type: "remove", user: benoit });
    server.sendTexts(amina, group, "without him");
    await isGone(tab, group);
    await enqueueText(tab, group, "too late");
    server.changeGroup(amina, group, { type: "add", users: [benoit] });
    server.sendTexts(amina, group, "welcome back");
    await waitUntilDeviceSynced(server, tab, group);
    expect(await listShown(tab, group)).toEqual(["event", "welcome back", "too late failed"]);
    expect(await rowIn(tab, group)).toMatchObject({
      gone: false,
      open: true,
      unread: 1,
      muted: true,
      group: { number: 1, count: 3 },
    });
    expect((await readChat(getContext(tab).store, group, 100)).hasMoreOnServer).toBe(false);
    const [unsent] = await getContext(tab).store.queryUnsent(group).toArray();
    await retryFailedMessage(tab, unsent?.cid ?? "");
    await eventually(async () => expect((await listShown(tab, group)).at(-1)).toBe("too late sent"));
    await waitUntilDeviceSynced(server, tab, group);
    // Removed and added again within one absence.
    await phone.close(tab);
    server.changeGroup(amina, group, { type: "remove", user: benoit });
    server.sendTexts(amina, group, "unseen");
    server.changeGroup(amina, group, { type: "add", users: [benoit] });
    const again = await phone.openTab();
    await waitUntilDeviceSynced(server, again, group);
    expect(await listShown(again, group)).toEqual(["event"]);
  });

  it("does not show a message as failed that arrived before its author was removed", async () => {
    const { server, amina, benoit, group } = makeGroup();
    const phone = makeDevice(server, benoit);
    const tab = await phone.openTab();
    await waitUntilDeviceSynced(server, tab, group);
    // The answer is overtaken by the notice.
    phone.faults.random = () => 0;
    phone.faults.reorderDown = 1;
    await enqueueText(tab, group, "just in time");
    await eventually(() => expect(server.log(group).messages).toHaveLength(2));
    phone.faults.reorderDown = 0;
    server.changeGroup(amina, group, { type: "remove", user: benoit });
    await isGone(tab, group);
    await eventually(async () => expect(await countUnsent(tab)).toEqual({ outbox: 0, uploads: 0, blobs: 0 }));
    expect(await rowIn(tab, group)).toBeUndefined();
  });

  it("is not restored by late data: a message, a page, a file, members, receipts, an answer", async () => {
    const { server, amina, benoit, group } = makeGroup();
    server.sendTexts(amina, group, ...Array.from({ length: 50 }, (_, i) => `m${i}`));
    const phone = makeDevice(server, benoit);
    const tab = await phone.openTab();
    await waitUntilDeviceSynced(server, tab, group);
    const aminaTab = await makeDevice(server, amina).openTab();
    await sendFiles(aminaTab, group, makePicture(2_000));
    for (const one of [aminaTab, tab]) await waitUntilDeviceSynced(server, one, group);
    const context = getContext(tab);
    const question = { type: "page", conversation: group, direction: "before", seq: 20, limit: 10 } as const;
    const page = await tab.request(question);
    phone.answerMs = 30_000;
    const late = Promise.allSettled([
      fetchAndCacheFile(context, group, { file: getOnlyFile(server).id, mime: "image/jpeg", size: 2_000 }),
      syncMemberList(context, group),
    ]);
    await eventually(() => expect(server.groupRequests).toHaveLength(1));
    await eventually(() => expect(phone.downloads).toHaveLength(1));
    phone.faults.random = () => 0;
    phone.faults.reorderDown = 1;
    server.sendTexts(amina, group, "overtaken");
    phone.faults.reorderDown = 0;
    server.changeGroup(amina, group, { type: "remove", user: benoit });
    await isGone(tab, group);
    expect((await late).map(({ status }) => status)).toEqual(["fulfilled", "fulfilled"]);
    const pages = () =>
      server.executedCommands.filter(({ user, command }) => user === benoit && command.type === "page").length;
    const before = pages();
    const { applyInTransaction: applyChanges } = await import("#sync/inbound/apply-server-changes.ts");
    const { hi = 0 } = (await context.store.conversations.get(group)) ?? {};
    const { epoch, counter } = await readSyncCursor(context.store);
    const change = { epoch, counter: counter + 1 };
    const newer = page.messages.map((message, index) => ({ ...message, seq: hi + 1 + index }));
    const request = { conversation: group, direction: "after", seq: hi, head: hi, revised: 0 } as const;
    await applyChanges(context.store, benoit, [
      { type: "page", request: { ...question, head: 53, revised: 0 }, page },
      { type: "page", request, page: { ...page, head: hi + newer.length, messages: newer, more: false } },
      { type: "messages", target: group, messages: page.messages },
      { type: "revised", target: group, since: 0, revision: 3, messages: page.messages },
      { type: "ownRead", target: group, delivered: 4, read: 4, unread: 30, head: 53 },
      { type: "head", target: group, head: 99 },
      { type: "cleared", conversation: group, upTo: 60, keep: true, change },
      {
        type: "muted",
        conversation: group,
        mute: { muted: true, mutedUntil: null, mutedExceptMentions: false },
        change,
      },
    ]);
    expect(await heldOf(tab, group)).toEqual(nothing);
    expect(await context.store.blobs.count()).toBe(0);
    expect(await context.store.conversations.get(group)).toMatchObject({
      gone: true,
      unread: 0,
      muted: false,
      kept: false,
      hidden: hi,
      listed: 0,
    });
    await phone.pass(20_000);
    expect(pages()).toBe(before);
    expect(await heldOf(tab, group)).toEqual(nothing);
  });

  it("disappears in a follower tab as well, and messages written there are kept and not sent", async () => {
    const { server, amina, benoit, group } = makeGroup();
    const phone = makeDevice(server, benoit);
    const leader = await phone.openTab();
    const follower = await phone.openTab();
    await waitUntilDeviceSynced(server, leader, group);
    expect([leader.isLeader, follower.isLeader]).toEqual([true, false]);
    server.changeGroup(amina, group, { type: "remove", user: benoit });
    await isGone(follower, group);
    await enqueueText(follower, group, "too late");
    for (const tab of [leader, follower]) expect(await listShown(tab, group)).toEqual(["too late failed"]);
    await phone.pass(20_000);
    expect(sentTo(server, group)).toEqual([]);
  });

  it("leaves only its unsent messages after an expired session, which are shown as failed later", async () => {
    const { server, amina, benoit, group } = makeGroup();
    const phone = makeDevice(server, benoit);
    const tab = await phone.openTab();
    await waitUntilDeviceSynced(server, tab, group);
    await syncMemberList(getContext(tab), group);
    phone.faults.isOffline = true;
    await enqueueText(tab, group, "unsent");
    await phone.close(tab);
    await purgeAllButUnsent(phone.platform(), benoit);
    server.changeGroup(amina, group, { type: "remove", user: benoit });
    phone.faults.isOffline = false;
    const again = await phone.openTab();
    expect(await getContext(again).store.members.count()).toBe(0);
    await isGone(again, group);
    await eventually(async () => expect(await listShown(again, group)).toEqual(["unsent failed"]));
    expect(await rowIn(again, group)).toMatchObject({ gone: true, group: { name: "Famille" } });
    expect(server.log(group).messages.every(({ author }) => author === amina)).toBe(true);
  });
});

describe("late answers", () => {
  it("do not restore a group from which the user was removed after the request", async () => {
    const { server, amina, benoit, group } = makeGroup();
    const phone = makeDevice(server, benoit);
    const tab = await phone.openTab();
    await waitUntilDeviceSynced(server, tab, group);
    const { store } = getContext(tab);
    const { readSyncCursor: readCursor, addGap: withHole } = await import("#sync/store/sync-cursor.ts");
    const { applyInTransaction: applyChanges } = await import("#sync/inbound/apply-server-changes.ts");
    const { toRowChanges: rowChanges } = await import("#sync/inbound/server-changes.ts");
    const { counter: knownCounter } = await readCursor(store);
    const result = server.listChanges(benoit, 0);
    const { counter, epoch } = result;
    const answer = { type: "answer", knownCounter, epoch, counter, changes: rowChanges(result) } as const;
    server.changeGroup(amina, group, { type: "rename", name: "Cousins" });
    server.changeGroup(amina, group, { type: "remove", user: benoit });
    await isGone(tab, group);
    const before = await readCursor(store);
    await applyChanges(store, benoit, [{ ...answer, move: (cursor) => withHole(cursor, 0) }]);
    expect(await store.conversations.get(group)).toMatchObject({ gone: true, group: { name: "Cousins" } });
    expect(await readCursor(store)).toEqual(before);
    // One as new as the stored state is applied.
    const fresh = server.listChanges(benoit, 0);
    const changes = rowChanges(fresh);
    await applyChanges(store, benoit, [
      {
        type: "answer",
        knownCounter,
        epoch,
        counter: fresh.counter,
        changes,
        move: (cursor) => ({ ...cursor, skew: 5 }),
      },
    ]);
    expect(await readCursor(store)).toMatchObject({ skew: 5 });
  });

  it("do not undo a change that another device made meanwhile", async () => {
    const { server, amina, group } = makeGroup();
    const phone = makeDevice(server, amina);
    const tab = await phone.openTab();
    await waitUntilDeviceSynced(server, tab, group);
    const { store } = getContext(tab);
    const becomes = (muted: boolean) =>
      eventually(async () => expect(await store.conversations.get(group)).toMatchObject({ muted }));
    phone.answerMs = 10_000;
    await setConversationMuted(tab, group, true);
    await becomes(true);
    server.execute(amina, { type: "mute", conversation: group, muted: false });
    await becomes(false);
    await phone.pass(12_000);
    expect(await store.conversations.get(group)).toMatchObject({ muted: false });
  });

  it("apply if the change they name is not stored yet, and are ignored otherwise", async () => {
    const { server, amina, group } = makeGroup();
    const tab = await makeDevice(server, amina).openTab();
    await waitUntilDeviceSynced(server, tab, group);
    const { store } = getContext(tab);
    const { applyInTransaction: applyChanges } = await import("#sync/inbound/apply-server-changes.ts");
    const cursor = await readSyncCursor(store);
    const { epoch, counter } = cursor;
    const answerWith = async (change: { epoch: string; counter: number }, value: boolean) => {
      const answer = { conversation: group, upTo: 0, keep: value, change };
      const mute = { muted: value, mutedUntil: null, mutedExceptMentions: false };
      await applyChanges(store, amina, [
        { type: "muted", mute, ...answer },
        { type: "cleared", ...answer },
      ]);
      const { muted, kept } = (await store.conversations.get(group)) ?? {};
      return { muted, kept };
    };
    const off = { muted: false, kept: false };
    const on = { muted: true, kept: true };
    expect(await answerWith({ epoch, counter }, true)).toEqual(off);
    expect(await answerWith({ epoch: "another", counter: counter + 1 }, true)).toEqual(off);
    expect(await answerWith({ epoch, counter: counter + 1 }, true)).toEqual(on);
    // A change in a gap of the cursor is not stored yet.
    await writeSyncCursor(store, { ...cursor, gaps: [{ since: counter - 2, before: counter }] });
    expect(await answerWith({ epoch, counter: counter - 2 }, false)).toEqual(on);
    expect(await answerWith({ epoch, counter }, false)).toEqual(on);
    expect(await answerWith({ epoch, counter: counter - 1 }, false)).toEqual(off);
  });

  it("apply before the push of their change, or with it if they name no change", async () => {
    const { server, amina, group } = makeGroup();
    const phone = makeDevice(server, amina);
    const tab = await phone.openTab();
    await waitUntilDeviceSynced(server, tab, group);
    const { store } = getContext(tab);
    // The push of an earlier change of the row arrives while the request is on its way; the request's own push is late.
    phone.requestMs = 4_000;
    const muting = setConversationMuted(tab, group, true);
    server.changeGroup(amina, group, { type: "rename", name: "Cousins" });
    await eventually(async () => expect(await rowIn(tab, group)).toMatchObject({ group: { name: "Cousins" } }));
    phone.faults.random = () => 0;
    phone.faults.reorderDown = 1;
    await muting;
    expect(await store.conversations.get(group)).toMatchObject({ muted: true });
    phone.faults.reorderDown = 0;
    phone.requestMs = 0;
    await waitUntilDeviceSynced(server, tab, group);
    vi.spyOn(server, "changeNumber").mockReturnValue(undefined as never); // an earlier server
    await setConversationMuted(tab, group, false);
    await eventually(async () => expect(await store.conversations.get(group)).toMatchObject({ muted: false }));
    await waitUntilDeviceSynced(server, tab, group);
  });

  it("do not restore an older name of a group by an overtaken row", async () => {
    const { server, amina, group } = makeGroup();
    const tab = await makeDevice(server, amina).openTab();
    await waitUntilDeviceSynced(server, tab, group);
    const old = server.row(amina, server.log(group));
    server.changeGroup(amina, group, { type: "rename", name: "Cousins" });
    await waitUntilDeviceSynced(server, tab, group);
    const { applyInTransaction: applyChanges } = await import("#sync/inbound/apply-server-changes.ts");
    await applyChanges(getContext(tab).store, amina, [{ type: "row", row: old }]);
    expect(await rowIn(tab, group)).toMatchObject({ group: { name: "Cousins" } });
  });
});
