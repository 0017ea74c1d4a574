import { IDBObjectStore } from "fake-indexeddb";
import { afterEach, expect, it, vi } from "vitest";
import { createUuid } from "#contract/ids.ts";
import { UnsentJournal } from "#lib/unsent/unsent-journal.ts";
import { EditKeeper } from "#sync/drafts/edit-keeper.ts";
import { TextDrafts } from "#sync/drafts/text-drafts.ts";
import { readUnsentSummary } from "#sync/drafts/unsent-summary.ts";
import { appendRecordingChunk } from "#sync/drafts/voice-drafts.ts";
import { enqueueText } from "#sync/sending/enqueue.ts";
import { putAttachmentDraft } from "#sync/unsent/attachment-drafts.ts";
import { parkText } from "#sync/unsent/draft-row.ts";
import { changeDraft } from "#sync/unsent/drafts.ts";
import type { OutboxRow } from "#sync/unsent/outbox-row.ts";
import { eventually } from "#tests/support/model/eventually.ts";
import { getContext, waitUntilDeviceSynced } from "#tests/support/model/model-checks.ts";
import { makeDevice, makePair } from "#tests/support/model/model-fixtures.ts";

afterEach(() => {
  vi.restoreAllMocks();
});

it("a sign-out would lose every unsent message, and each place with unsent content in any tab", async () => {
  const { server, amina, chat } = makePair();
  const phone = makeDevice(server, amina);
  const [tab, other] = [await phone.openTab(), await phone.openTab()];
  const context = getContext(tab);
  expect(await readUnsentSummary(context)).toEqual({ messages: 0, posts: 0, drafts: 0, deletions: 0, edits: 0 });
  phone.faults.isOffline = true;
  await enqueueText(other, chat, "one");
  await enqueueText(tab, chat, "two");
  const drafts = new TextDrafts(other);
  drafts.save(chat, "not yet");
  await eventually(async () =>
    expect(await readUnsentSummary(context)).toEqual({ messages: 2, posts: 0, drafts: 1, deletions: 0, edits: 0 }),
  );
  // One place counts once, however many unsent items it has.
  await appendRecordingChunk(
    other,
    { conversation: chat, startedAt: 1, mime: "audio/webm", ms: 1_000, levels: [] },
    new Blob(["x"]),
  );
  expect(await readUnsentSummary(context)).toEqual({ messages: 2, posts: 0, drafts: 1, deletions: 0, edits: 0 });
  const draft = { files: [], isOriginal: false, text: "to all", to: [] };
  await tab.unsent.changeAll([putAttachmentDraft({ key: "broadcast" }, draft, phone.now())]);
  expect(await readUnsentSummary(context)).toEqual({ messages: 2, posts: 0, drafts: 2, deletions: 0, edits: 0 });

  phone.faults.isOffline = false;
  await eventually(async () => expect((await readUnsentSummary(context)).messages).toBe(0));
});

it("drafts that a full phone could not store count as well", async () => {
  const { server, amina, chat } = makePair();
  const tab = await makeDevice(server, amina).openTab();
  const context = getContext(tab);
  vi.spyOn(IDBObjectStore.prototype, "put").mockImplementation(() => {
    throw new DOMException("the phone is full", "QuotaExceededError");
  });
  const drafts = new TextDrafts(tab);
  drafts.save(chat, "nowhere but here");
  await drafts.flush();
  expect(await readUnsentSummary(context)).toEqual({ messages: 0, posts: 0, drafts: 1, deletions: 0, edits: 0 });
});

it("a draft that the server has is lost with the account only, kept texts and edits that are being typed also with the session", async () => {
  const { server, amina, chat } = makePair();
  const phone = makeDevice(server, amina);
  const tab = await phone.openTab();
  const context = getContext(tab);
  await waitUntilDeviceSynced(server, tab, chat);
  const drafts = new TextDrafts(tab);
  const count = async () => {
    const { drafts: places, edits } = await readUnsentSummary(context);
    return [places, edits];
  };
  drafts.type(chat, "shared");
  await drafts.flush();
  expect(await count()).toEqual([1, 0]);
  await eventually(async () => expect(await count()).toEqual([0, 0]));
  expect(await readUnsentSummary(context, "account")).toMatchObject({ drafts: 1 });
  drafts.type(chat, "shared and more");
  await drafts.flush();
  expect(await count()).toEqual([1, 0]);
  await eventually(async () => expect(await count()).toEqual([0, 0]));
  const keeper = new EditKeeper(tab, chat, { seq: 4 });
  keeper.keep("an edit");
  new EditKeeper(tab, chat, { seq: 5 }).keep("");
  expect(await count()).toEqual([0, 1]);
  await changeDraft(context.unsent, chat, (draft) => parkText(draft, { id: "1", text: "of another tab" }));
  expect(await count()).toEqual([1, 1]);
  keeper.keep(undefined);
  expect(await count()).toEqual([1, 0]);
});

it("texts of a first view, which the app has not sent, count as well, and those that the service worker sent do not", async () => {
  const { server, amina, chat } = makePair();
  const phone = makeDevice(server, amina);
  phone.faults.isOffline = true;
  const journal = new UnsentJournal(amina, phone.localStorage, "a first view");
  const write = (order: number, fields: Partial<OutboxRow>) => {
    const [cid, body] = [createUuid(), { type: "text", text: "sent early" }];
    const row = { cid, conversation: chat, order, body, state: "queued", attempts: 0, createdAt: 1, at: 1, ...fields };
    journal.write({ table: "outbox", key: cid, row, at: order });
  };
  write(1, {});
  write(2, { sent: { epoch: "of another log", seq: 2, at: 1 } });
  phone.firstScreen = new Promise(() => {}); // the app does not work on it yet
  const context = getContext(await phone.openTab());
  expect(await readUnsentSummary(context)).toEqual({ messages: 1, posts: 0, drafts: 0, deletions: 0, edits: 0 });
});
