import { describe, expect, it } from "vitest";
import type { Uuid } from "#contract/ids.ts";
import { setConversationMuted } from "#sync/commands/conversation-commands.ts";
import type { SyncClient } from "#sync/engine/sync-client.ts";
import { fetchAndCacheFile } from "#sync/files/download-cache.ts";
import { syncMemberList } from "#sync/inbound/member-loader.ts";
import { readChat } from "#sync/queries/chat-messages.ts";
import { readConversation } from "#sync/queries/conversation.ts";
import { enqueueText } from "#sync/sending/enqueue.ts";
import { retryFailedMessage } from "#sync/sending/files/retry-message.ts";
import { readSyncCursor } from "#sync/store/sync-cursor.ts";
import { listUnsent } from "#sync/unsent/messages.ts";
import { eventually } from "#tests/support/model/eventually.ts";
import {
  findListRow,
  getContext,
  listConversations,
  listShown,
  listTexts,
  waitUntilDeviceSynced,
  waitUntilGone,
} from "#tests/support/model/model-checks.ts";
import { makeDevice, makeGroup } from "#tests/support/model/model-fixtures.ts";
import { countUnsent, getOnlyFile, makePicture, sendFiles } from "#tests/support/model/outgoing-files.ts";

/** Data of a group in the store besides its row. */
const heldOf = async (tab: SyncClient, group: Uuid) => {
  const { store } = getContext(tab);
  const [messages, members, roster] = await Promise.all([
    store.queryMessages(group, 0).count(),
    store.queryMembers(group).count(),
    store.meta.get(`roster:${group}`),
  ]);
  return { messages, members, roster };
};

const nothing = { messages: 0, members: 0, roster: undefined };

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
      await waitUntilGone(tab, group);
      expect(await heldOf(tab, group)).toEqual(nothing);
      expect(await findListRow(tab, group)).toBeUndefined();
      expect(await listTexts(tab, group)).toEqual([]);
      const { store } = getContext(tab);
      await eventually(async () => expect(await store.blobs.count()).toBe(0));
      expect(await readConversation(getContext(tab), group)).toMatchObject({
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
    await waitUntilGone(tab, group);
    await eventually(() => expect([...phone.deletedPictures]).toEqual([group, chantal]));
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
    await waitUntilGone(tab, group);
    await enqueueText(tab, group, "too late");
    server.changeGroup(amina, group, { type: "add", users: [benoit] });
    server.sendTexts(amina, group, "welcome back");
    await waitUntilDeviceSynced(server, tab, group);
    expect(await listShown(tab, group)).toEqual(["event", "welcome back", "too late failed"]);
    expect(await findListRow(tab, group)).toMatchObject({
      gone: false,
      open: true,
      unread: 1,
      muted: true,
      group: { number: 1, count: 3 },
    });
    expect((await readChat(getContext(tab), group, 100)).hasMoreOnServer).toBe(false);
    const [unsent] = listUnsent(tab.unsent, group);
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
    await waitUntilGone(tab, group);
    await eventually(async () => expect(await countUnsent(tab)).toEqual({ outbox: 0, uploads: 0, files: 0 }));
    expect(await findListRow(tab, group)).toBeUndefined();
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
    await waitUntilGone(tab, group);
    expect((await late).map(({ status }) => status)).toEqual(["fulfilled", "fulfilled"]);
    const pages = () =>
      server.executedCommands.filter(({ user, command }) => user === benoit && command.type === "page").length;
    const before = pages();
    const { applyInTransaction: applyChanges } = await import("#sync/inbound/apply/apply-server-changes.ts");
    const { storedTo = 0 } = (await context.store.conversations.get(group)) ?? {};
    const { epoch, counter } = await readSyncCursor(context.store);
    const change = { epoch, counter: counter + 1 };
    const newer = page.messages.map((message, index) => ({ ...message, seq: storedTo + 1 + index }));
    const request = { conversation: group, direction: "after", seq: storedTo, head: storedTo, revised: 0 } as const;
    await applyChanges(context, [
      { type: "page", request: { ...question, head: 53, revised: 0 }, page },
      { type: "page", request, page: { ...page, head: storedTo + newer.length, messages: newer, more: false } },
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
      hidden: storedTo,
      listed: 0,
    });
    await phone.pass(20_000);
    expect(pages()).toBe(before);
    expect(await heldOf(tab, group)).toEqual(nothing);
  });
});
