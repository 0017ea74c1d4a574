import { describe, expect, it } from "vitest";
import { createUuid } from "#contract/ids.ts";
import { anonymousForward, type StoredBody } from "#contract/messages/body.ts";
import { createDeletedRelation } from "#contract/people.ts";
import { relation } from "#contract/wire/compact-encoding.ts";
import { originBase } from "#contract/wire/server-frames.ts";
import { readFeed } from "#sync/feed/feed-store.ts";
import { applyInTransaction } from "#sync/inbound/apply/apply-server-changes.ts";
import { readConversations } from "#sync/queries/conversation-list.ts";
import { discardUnsentMessage } from "#sync/sending/discard-message.ts";
import { enqueueText } from "#sync/sending/enqueue.ts";
import { readMemberProfiles } from "#sync/store/members.ts";
import { listUnsent } from "#sync/unsent/messages.ts";
import { listUploads } from "#sync/unsent/uploads.ts";
import { eventually } from "#tests/support/model/eventually.ts";
import { getContext, listShown, waitUntilDeviceSynced } from "#tests/support/model/model-checks.ts";
import { makeDevice, makeGroup, makePair } from "#tests/support/model/model-fixtures.ts";
import { countUnsent, fourPartSize, isPart, makePicture, sendFiles } from "#tests/support/model/outgoing-files.ts";

describe("a deleted person", () => {
  it("is only an id in frames, in no more bytes than before", () => {
    const gone = createDeletedRelation("01a20112-2d30-71d7-8f14-7c907d4545c7");
    expect(relation.decode(relation.encode(gone, originBase), originBase)).toEqual(gone);
    const { deleted: _, ...profile } = gone.profile;
    const stranger = { ...gone, profile };
    expect(relation.decode(relation.encode(stranger, originBase), originBase)).toEqual(stranger);
    const [short, long] = [gone, stranger].map((one) => JSON.stringify(relation.encode(one, originBase)));
    expect(short?.length).toBe(long?.length);
  });

  it("has no name, number or picture left on a device, while their messages stay", async () => {
    const { server, amina, benoit, chat } = makePair();
    const phone = makeDevice(server, amina);
    const tab = await phone.openTab();
    server.sendTexts(benoit, chat, "Mbote");
    await waitUntilDeviceSynced(server, tab, chat);
    server.updateContact(amina, createDeletedRelation(benoit));
    const { store } = getContext(tab);
    await eventually(async () => expect((await store.people.get(benoit))?.deleted).toBe(1));
    expect(await store.people.get(benoit)).toMatchObject({ username: "", phone: "", avatar: null, state: "none" });
    const [item] = (await readConversations(getContext(tab), 10)) ?? [];
    expect(item).toMatchObject({ peer: benoit, person: { deleted: 1 }, last: { body: { text: "Mbote" } } });
    await eventually(() => expect(phone.deletedPictures).toContain(benoit));
  });

  it("is anonymous among the members of a group, also before the members are requested again", async () => {
    const { server, amina, benoit, chantal } = makeGroup();
    const group = server.createGroup(amina, "Famille", [benoit, chantal]);
    const phone = makeDevice(server, amina);
    const tab = await phone.openTab();
    await waitUntilDeviceSynced(server, tab, group);
    tab.memberLoader.requestMembers(group, [1, 2]);
    const { store, me } = getContext(tab);
    const names = async () => {
      const authors = await readMemberProfiles(store, me, group, [1, 2]);
      return [authors[1]?.name, authors[2]?.name];
    };
    await eventually(async () => expect(await names()).toEqual(["Benoît", "Chantal"]));
    server.updateContact(amina, createDeletedRelation(benoit));
    await eventually(async () => expect(await names()).toEqual(["", "Chantal"]));
    const rows = await store.members.toArray();
    expect(JSON.stringify(rows)).not.toContain("Benoît");
    expect(JSON.stringify(rows)).not.toContain(benoit);
  });

  it("is no longer named in forwarded messages, whatever arrives late", async () => {
    const { server, amina, benoit, chat } = makePair();
    const tab = await makeDevice(server, amina).openTab();
    server.sendTexts(benoit, chat, "Mbote");
    await waitUntilDeviceSynced(server, tab, chat);
    const { store } = getContext(tab);
    const [held] = await store.messages.toArray();
    if (!held) throw new Error("no message");
    const of = (body: StoredBody) => [{ seq: held.seq, at: held.at, sender: held.sender, body }];
    const passedOn = { type: "text", text: "Mbote", forwarded: { by: createUuid(), name: "Chantal" } } as const;
    const unsigned = { ...passedOn, forwarded: anonymousForward };
    const seen = async () => [
      (await store.messages.get([chat, held.seq]))?.body,
      (await store.conversations.get(chat))?.preview,
    ];
    await store.messages.put({ ...held, body: passedOn });
    await applyInTransaction(getContext(tab), [
      { type: "revised", target: chat, since: 0, revision: 1, messages: of(unsigned) },
    ]);
    expect(await seen()).toEqual([unsigned, unsigned]);
    // A page that was sent when the name was removed.
    const request = { conversation: chat, direction: "after", seq: 0, head: held.seq, revised: 0 } as const;
    const epoch = (await store.conversations.get(chat))?.epoch ?? "";
    const page = { epoch, head: held.seq, messages: of(passedOn), more: false };
    await applyInTransaction(getContext(tab), [{ type: "page", request, page }]);
    expect((await seen())[0]).toEqual(unsigned);
    const deleted = { type: "deleted" } as const;
    await applyInTransaction(getContext(tab), [
      { type: "revised", target: chat, since: 1, revision: 2, messages: of(deleted) },
    ]);
    expect(await seen()).toEqual([deleted, deleted]);
  });

  it("is sent no further parts of a file, whose author still has it and can discard it", async () => {
    const { server, amina, benoit, chat } = makePair();
    const phone = makeDevice(server, amina);
    const tab = await phone.openTab();
    await waitUntilDeviceSynced(server, tab, chat);
    phone.shouldLose = (request, what) => what === "request" && isPart(request);
    await sendFiles(tab, chat, makePicture(fourPartSize, "Maman"));
    await enqueueText(tab, chat, "et ceci");
    await eventually(async () => expect(await listShown(tab, chat)).toEqual(["et ceci sent", "image sending"]));
    server.closeConversation(chat);
    server.updateContact(amina, createDeletedRelation(benoit));
    await eventually(async () => expect(await listShown(tab, chat)).toContain("image failed"));
    const [unsent] = listUnsent(tab.unsent, chat);
    if (!unsent) throw new Error("nothing is unsent");
    expect(unsent).toMatchObject({ error: "not_connected", body: { text: "Maman" } });
    expect(listUploads(tab.unsent)).toMatchObject([{ state: "failed" }]);
    expect((await countUnsent(tab)).files).toBe(1);
    phone.shouldLose = () => false;
    phone.wake();
    await phone.pass(20_000);
    expect([...server.files.all.values()].flatMap(({ arrivals }) => [...arrivals])).toEqual([]);
    await discardUnsentMessage(tab, unsent.cid);
    expect(await listShown(tab, chat)).not.toContain("image failed");
    await eventually(async () => expect(await countUnsent(tab)).toEqual({ outbox: 0, uploads: 0, files: 0 }));
  });

  it("has no statuses, even if an old page of the feed contains some", async () => {
    const { server, amina, benoit } = makePair();
    const tab = await makeDevice(server, amina).openTab();
    const { store } = getContext(tab);
    const status = { at: 1, content: "", picture: null, avatar: null, username: "x", heardAt: 1, checkedAt: 1 };
    await store.posts.bulkPut([
      { ...status, number: 1, id: "a", author: benoit },
      { ...status, number: 2, id: "b", author: amina },
    ]);
    server.updateContact(amina, createDeletedRelation(benoit));
    await eventually(async () => {
      const shown = (await readFeed(store)).filter(({ isHidden }) => !isHidden);
      expect(shown.map(({ number }) => number)).toEqual([2]);
    });
  });
});
