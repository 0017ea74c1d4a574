import { afterEach, describe, expect, it, vi } from "vitest";
import type { Uuid } from "#contract/ids.ts";
import { clearConversationHistory } from "#sync/commands/conversation-commands.ts";
import { deleteRecordingDraft, discardDrafts } from "#sync/drafts/delete-drafts.ts";
import { DraftKeeper } from "#sync/drafts/draft-keeper.ts";
import { TextDrafts } from "#sync/drafts/text-drafts.ts";
import { listUnsentContent } from "#sync/drafts/unsent-content.ts";
import { readUnsentSummary } from "#sync/drafts/unsent-summary.ts";
import { appendRecordingChunk, findRecordingDraft } from "#sync/drafts/voice-drafts.ts";
import type { SyncClient } from "#sync/engine/sync-client.ts";
import { syncMemberList } from "#sync/inbound/member-loader.ts";
import { readChat } from "#sync/queries/chat-messages.ts";
import { discardUnsentMessage } from "#sync/sending/discard-message.ts";
import { enqueueText } from "#sync/sending/enqueue.ts";
import { retryFailedMessage } from "#sync/sending/files/retry-message.ts";
import { enqueueBroadcast } from "#sync/sending/multicast.ts";
import { deleteAllButUnsent } from "#sync/store/open-database.ts";
import { listUnsent } from "#sync/unsent/messages.ts";
import { listUploads } from "#sync/unsent/uploads.ts";
import { eventually } from "#tests/support/model/eventually.ts";
import {
  findListRow,
  getContext,
  listShown,
  listTexts,
  readCommittedDraft,
  waitUntilDeviceSynced,
  waitUntilGone,
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

const sentTo = (server: ModelServer, group: Uuid) =>
  server.executedCommands.filter(({ command }) => command.type === "send" && command.conversation === group);

describe("a group from which the user was removed", () => {
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
    await waitUntilGone(tab, group);
    await waitUntilDeviceSynced(server, tab, withBenoit);
    const failed = ["unsent failed", "image failed", "to both failed"];
    await eventually(async () => expect(await listShown(tab, group)).toEqual(failed));
    expect(await listTexts(tab, withBenoit)).toEqual(["to both"]);
    await phone.pass(2_000); // The server was asked what became of queued messages.
    const { length: before } = sentTo(server, group);
    const { items } = await readChat(getContext(tab), group, 10);
    expect(items.every(({ error }) => error === "conversation_not_found")).toBe(true);
    expect(await findListRow(tab, group)).toMatchObject({
      gone: true,
      open: false,
      unread: 0,
      last: { status: "failed" },
    });
    // The picture is still shown, and its file is not sent.
    expect(await countUnsent(tab)).toEqual({ outbox: 3, uploads: 1, files: 1 });
    expect(listUploads(tab.unsent)).toMatchObject([{ state: "failed" }]);
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
    const left = listUnsent(tab.unsent, group).map(({ cid }) => cid);
    for (const cid of left.slice(1)) await discardUnsentMessage(tab, cid);
    expect(await findListRow(tab, group)).toMatchObject({ last: { body: { text: "unsent" } } });
    await discardUnsentMessage(tab, left[0] ?? "");
    expect(await findListRow(tab, group)).toBeUndefined();
    await eventually(async () => expect(await countUnsent(tab)).toEqual({ outbox: 0, uploads: 0, files: 0 }));
  });

  it("is sent no further parts of a file, unless it has another recipient too", async () => {
    const { server, amina, benoit, group, withBenoit } = makeGroup();
    const phone = makeDevice(server, benoit);
    const tab = await phone.openTab();
    await waitUntilDeviceSynced(server, tab, group);
    let parts = 0;
    phone.shouldLose = (request, what) => what === "answer" && isPart(request) && ++parts > 0;
    const { enqueueFiles } = await import("#sync/sending/files/send-files.ts");
    await sendFiles(tab, group, makePicture(fourPartSize));
    await enqueueFiles(tab, [group, withBenoit], [makePicture(1_500, "for both")]);
    await eventually(() => expect(parts).toBeGreaterThan(2));
    server.changeGroup(amina, group, { type: "remove", user: benoit });
    await waitUntilGone(tab, group);
    phone.shouldLose = () => false;
    await waitUntilDeviceSynced(server, tab, withBenoit);
    expect(await listTexts(tab, withBenoit)).toEqual(["image"]);
    await eventually(async () =>
      expect(listUploads(tab.unsent)).toMatchObject([{ state: "failed", size: fourPartSize }]),
    );
    const asked = phone.requests.filter(({ path }) => path.startsWith("/api/files/")).length;
    await phone.pass(60_000);
    expect(phone.requests.filter(({ path }) => path.startsWith("/api/files/"))).toHaveLength(asked);
    expect(await listShown(tab, group)).toEqual(["image failed", "image failed"]);
    // Both pictures are still shown.
    expect((await countUnsent(tab)).files).toBe(2);
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
    await waitUntilGone(tab, group);
    await eventually(() => expect(under.every((signal) => signal?.aborted)).toBe(true));
    letGo();
    await phone.pass(40_000);
    expect(getOnlyFile(server)).toMatchObject({ isReady: false, parts: { size: 1 } });
    expect(listUploads(tab.unsent)).toMatchObject([{ state: "failed" }]);
  });

  it("does not receive a failed file on a retry, while the other conversations do", async () => {
    const { server, amina, benoit, group, withBenoit } = makeGroup();
    const phone = makeDevice(server, benoit);
    const tab = await phone.openTab();
    await waitUntilDeviceSynced(server, tab, group);
    server.files.refuse = () => ({ error: "file_too_large" });
    const { enqueueFiles } = await import("#sync/sending/files/send-files.ts");
    await enqueueFiles(tab, [withBenoit, group], [makePicture(1_500)]);
    await eventually(async () => expect(await listShown(tab, withBenoit)).toEqual(["image failed"]));
    server.changeGroup(amina, group, { type: "remove", user: benoit });
    await waitUntilGone(tab, group);
    server.files.refuse = () => undefined;
    const [unsent] = listUnsent(tab.unsent, withBenoit);
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
    await waitUntilGone(tab, group);
    expect(await findListRow(tab, group)).toMatchObject({ gone: true, draft: "half a sentence", last: { body: null } });
    drafts.save(group, "");
    await drafts.flush();
    expect(await findListRow(tab, group)).toBeUndefined();
    drafts.save(group, "written in a tab that had not heard");
    await drafts.flush();
    await enqueueText(tab, group, "sent there");
    drafts.save(group, "again half");
    await drafts.flush();
    expect(await findListRow(tab, group)).toMatchObject({ gone: true, draft: "again half" });
    await clearConversationHistory(tab, group, false);
    expect(await findListRow(tab, group)).toBeUndefined();
    expect(await readCommittedDraft(tab, group)).toBe("");
    expect(await countUnsent(tab)).toEqual({ outbox: 0, uploads: 0, files: 0 });
    expect(server.executedCommands.some(({ command }) => command.type === "clearHistory")).toBe(false);
  });

  it("stays in the list for attachments or a recording as for a draft, until discarded", async () => {
    const { server, amina, benoit, group } = makeGroup();
    const phone = makeDevice(server, benoit);
    const first = await phone.openTab();
    await waitUntilDeviceSynced(server, first, group);
    const photo = new File(["photo"], "fête.jpg", { type: "image/jpeg" });
    const choose = async (tab: SyncClient) => {
      const keeper = await DraftKeeper.open(tab, group);
      const captions = new Map([[photo, "Maman"]]);
      keeper?.save({ files: [photo], captions, isOriginal: false, text: "", to: [] });
      await keeper?.close();
    };
    const speak = (tab: SyncClient, startedAt: number) =>
      appendRecordingChunk(
        tab,
        { conversation: group, startedAt, mime: "audio/webm", ms: 900, levels: [1] },
        new Blob(["spoken"]),
      );
    const leftIn = (tab: SyncClient) => listUnsentContent(tab.unsent.list(), group);
    const emptied = { messages: 0, posts: 0, drafts: 0, deletions: 0, edits: 0 };
    await choose(first);
    server.changeGroup(amina, group, { type: "remove", user: benoit });
    await waitUntilGone(first, group);
    expect(await findListRow(first, group)).toMatchObject({ gone: true, last: { body: null } });
    await phone.kill(first);
    const tab = await phone.openTab();
    expect(await findListRow(tab, group)).toMatchObject({ gone: true });
    const { files } = await leftIn(tab);
    expect(files).toMatchObject([{ name: "fête.jpg", caption: "Maman" }]);
    expect(await (await tab.unsent.bytes.get(files[0]?.id ?? ""))?.text()).toBe("photo");
    // Each keeps it without the other, and a recording that ends only now is still stored.
    await speak(tab, 1);
    await discardDrafts(tab, group);
    expect(await findListRow(tab, group)).toMatchObject({ gone: true });
    expect(await leftIn(tab)).toEqual({ files: [], recordings: [{ startedAt: 1, ms: 900 }] });
    await deleteRecordingDraft(tab, group);
    expect(await findListRow(tab, group)).toBeUndefined();
    // A choice in a tab that was not notified restores the row; both go with the conversation.
    await choose(tab);
    expect(await findListRow(tab, group)).toMatchObject({ gone: true });
    await speak(tab, 2);
    await clearConversationHistory(tab, group, false);
    expect(await findListRow(tab, group)).toBeUndefined();
    expect(await readUnsentSummary(getContext(tab))).toEqual(emptied);
    await eventually(async () => expect((await countUnsent(tab)).files).toBe(0));
    // A returning member finds it unchanged.
    await choose(tab);
    await speak(tab, 3);
    server.changeGroup(amina, group, { type: "add", users: [benoit] });
    await waitUntilDeviceSynced(server, tab, group);
    expect(await findListRow(tab, group)).toMatchObject({ gone: false });
    const again = await DraftKeeper.open(tab, group);
    expect((await again?.load())?.files).toHaveLength(1);
    await again?.close();
    expect(await findRecordingDraft(tab, group)).toMatchObject({ startedAt: 3 });
  });

  it("disappears in a follower tab as well, and messages written there are kept and not sent", async () => {
    const { server, amina, benoit, group } = makeGroup();
    const phone = makeDevice(server, benoit);
    const leader = await phone.openTab();
    const follower = await phone.openTab();
    await waitUntilDeviceSynced(server, leader, group);
    expect([leader.isLeader, follower.isLeader]).toEqual([true, false]);
    server.changeGroup(amina, group, { type: "remove", user: benoit });
    await waitUntilGone(follower, group);
    await enqueueText(follower, group, "too late");
    for (const tab of [leader, follower])
      await eventually(async () => expect(await listShown(tab, group)).toEqual(["too late failed"]));
    await phone.pass(20_000);
    expect(sentTo(server, group)).toEqual([]);
  });

  it("leaves only its unsent messages after a session ended elsewhere, which are shown as failed later", async () => {
    const { server, amina, benoit, group } = makeGroup();
    const phone = makeDevice(server, benoit);
    const tab = await phone.openTab();
    await waitUntilDeviceSynced(server, tab, group);
    await syncMemberList(getContext(tab), group);
    phone.faults.isOffline = true;
    await enqueueText(tab, group, "unsent");
    await phone.close(tab);
    await deleteAllButUnsent(phone.platform(), benoit);
    server.changeGroup(amina, group, { type: "remove", user: benoit });
    phone.faults.isOffline = false;
    const again = await phone.openTab();
    expect(await getContext(again).store.members.count()).toBe(0);
    await waitUntilGone(again, group);
    await eventually(async () => expect(await listShown(again, group)).toEqual(["unsent failed"]));
    expect(await findListRow(again, group)).toMatchObject({ gone: true, group: { name: "Famille" } });
    expect(server.log(group).messages.every(({ author }) => author === amina)).toBe(true);
  });
});
