import { describe, expect, it } from "vitest";
import { type ConversationId, createUuid, type Uuid } from "#contract/ids.ts";
import { type AttachedBody, findAttachment } from "#contract/messages/body.ts";
import { clearConversationHistory } from "#sync/commands/conversation-commands.ts";
import { deleteRecordingDraft } from "#sync/drafts/delete-drafts.ts";
import { listUnsentContent } from "#sync/drafts/unsent-content.ts";
import { readUnsentSummary } from "#sync/drafts/unsent-summary.ts";
import { acquireRecordingLock, appendRecordingChunk, findRecordingDraft } from "#sync/drafts/voice-drafts.ts";
import type { SyncClient } from "#sync/engine/sync-client.ts";
import { ObjectUrlCache } from "#sync/files/object-urls.ts";
import { retryFailedMessage } from "#sync/sending/files/retry-message.ts";
import { enqueueFiles } from "#sync/sending/files/send-files.ts";
import { enqueueForward } from "#sync/sending/multicast.ts";
import { listOutbox } from "#sync/unsent/messages.ts";
import { listUploads } from "#sync/unsent/uploads.ts";
import { eventually } from "#tests/support/model/eventually.ts";
import { getContext, listShown, waitUntilDeviceSynced } from "#tests/support/model/model-checks.ts";
import type { ModelDevice } from "#tests/support/model/model-device.ts";
import { makeDevice, makePair } from "#tests/support/model/model-fixtures.ts";
import type { ModelServer } from "#tests/support/model/model-server.ts";
import { listUnsentBytes, makePicture } from "#tests/support/model/outgoing-files.ts";

const size = 5_000;
const bytesOf = (seed: number) => Uint8Array.from({ length: size }, (_, i) => (i * seed) % 251);

/** A picture that was sent from another device. */
const post = async (server: ModelServer, user: Uuid, chat: ConversationId, seed: number): Promise<AttachedBody> => {
  const file = createUuid();
  const path = `/api/files/${file}`;
  const name = "IMG_1.jpg";
  await server.files.handle(user, { method: "PUT", path, body: { name, size } });
  await server.files.handle(user, { method: "PUT", path: `${path}/parts/0`, body: new Blob([bytesOf(seed)]) });
  await server.files.handle(user, { method: "POST", path: `${path}/complete` });
  const body = { type: "image", file, name, mime: "image/jpeg", size, width: 40, height: 30, thumb: "" } as const;
  server.execute(user, { type: "send", conversation: chat, messages: [{ cid: createUuid(), body }] });
  return body;
};

/** Requests a file as a screen does. */
const look = (urlCache: ObjectUrlCache, body: AttachedBody) => {
  const shelved = urlCache.get(body);
  const away = shelved.subscribe(() => {});
  return {
    shelved,
    away,
    becomes: (state: string) => eventually(() => expect(shelved.get()).toMatchObject({ state })),
  };
};

const shownBytes = async (phone: ModelDevice, url: string | undefined) =>
  new Uint8Array((await phone.openUrls.get(url ?? "")?.arrayBuffer()) ?? []);

const openWith = async (phone: ModelDevice): Promise<[SyncClient, ObjectUrlCache]> => {
  const tab = await phone.openTab();
  return [tab, new ObjectUrlCache(tab)];
};

describe("a file of a message", () => {
  it("is downloaded once for all requests, and is then stored and available offline", async () => {
    const { server, amina, benoit, chat } = makePair();
    const body = await post(server, benoit, chat, 7);
    const phone = makeDevice(server, amina);
    const [tab, urlCache] = await openWith(phone);
    await waitUntilDeviceSynced(server, tab, chat);
    const [first, second] = [look(urlCache, body), look(urlCache, body)];
    await first.becomes("absent");
    first.shelved.load(chat);
    second.shelved.load(chat);
    await second.becomes("here");
    expect(await shownBytes(phone, second.shelved.get().url)).toEqual(bytesOf(7));
    expect(phone.openUrls.get(second.shelved.get().url ?? "")?.type).toBe("image/jpeg");
    expect(phone.downloads).toHaveLength(1);
    await phone.close(tab);
    phone.faults.isOffline = true;
    const [, later] = await openWith(phone);
    const third = look(later, body);
    await third.becomes("here");
    expect(await shownBytes(phone, third.shelved.get().url)).toEqual(bytesOf(7));
  });

  it("continues a download that was interrupted in the middle", async () => {
    const { server, amina, benoit, chat } = makePair();
    const body = await post(server, benoit, chat, 11);
    const phone = makeDevice(server, amina);
    const [tab, urlCache] = await openWith(phone);
    await waitUntilDeviceSynced(server, tab, chat);
    phone.downloadBytes = 2_000;
    const { shelved, becomes } = look(urlCache, body);
    shelved.load(chat);
    await becomes("here");
    expect(await shownBytes(phone, shelved.get().url)).toEqual(bytesOf(11));
    expect(phone.downloads.map(({ from }) => from)).toEqual([0, 2_000, 4_000]);
  });

  it("gives the reason of a failure; a deleted file is not requested again, a failed connection is retried", async () => {
    const { server, amina, benoit, chat } = makePair();
    const body = await post(server, benoit, chat, 13);
    const phone = makeDevice(server, amina);
    const [tab, urlCache] = await openWith(phone);
    await waitUntilDeviceSynced(server, tab, chat);
    const gone = look(urlCache, { ...body, file: createUuid() });
    gone.shelved.load(chat);
    await gone.becomes("failed");
    expect(gone.shelved.get()).toMatchObject({ error: "file_not_found" });
    expect(phone.downloads).toHaveLength(1);
    phone.faults.isOffline = true;
    server.inbox(amina).sockets.forEach((socket) => {
      socket.end(1006);
    });
    const offline = look(urlCache, body);
    offline.shelved.load(chat);
    await offline.becomes("failed");
    expect(offline.shelved.get()).toMatchObject({ error: "offline" });
    phone.faults.isOffline = false;
    phone.wake();
    await offline.becomes("absent");
    offline.shelved.load(chat);
    await offline.becomes("here");
    expect(gone.shelved.get()).toMatchObject({ state: "failed" });
  });

  it("releases its object URL when nothing shows it any more", async () => {
    const { server, amina, benoit, chat } = makePair();
    const body = await post(server, benoit, chat, 17);
    const phone = makeDevice(server, amina);
    const [tab, urlCache] = await openWith(phone);
    await waitUntilDeviceSynced(server, tab, chat);
    const { shelved, away, becomes } = look(urlCache, body);
    shelved.load(chat);
    await becomes("here");
    const again = look(urlCache, body);
    away();
    await phone.pass(20_000);
    expect(phone.openUrls.size).toBe(1);
    again.away();
    await eventually(() => expect(phone.openUrls.size).toBe(0));
    const back = look(urlCache, body);
    await back.becomes("here");
    urlCache.stop();
    expect(phone.openUrls.size).toBe(0);
  });

  it("is deleted from the phone with its message", async () => {
    const { server, amina, benoit, chat } = makePair();
    const body = await post(server, benoit, chat, 19);
    const phone = makeDevice(server, amina);
    const [tab, urlCache] = await openWith(phone);
    await waitUntilDeviceSynced(server, tab, chat);
    const { shelved, becomes } = look(urlCache, body);
    shelved.load(chat);
    await becomes("here");
    server.execute(benoit, { type: "deleteForEveryone", conversation: chat, seq: 1 });
    const { store } = getContext(tab);
    await eventually(async () => expect([await store.files.count(), await store.blobs.count()]).toEqual([0, 0]));
  });

  it("stays when its message is cleared while another one that references it is still unsent", async () => {
    const { server, amina, chat } = makePair();
    const other = server.connect(amina, server.addPerson("Chantal"));
    server.closeConversation(other);
    const phone = makeDevice(server, amina);
    const tab = await phone.openTab();
    await enqueueFiles(tab, [chat, other], [makePicture(size)]);
    await eventually(async () => {
      expect([await listShown(tab, chat), await listShown(tab, other)]).toEqual([["image sent"], ["image failed"]]);
    });
    await clearConversationHistory(tab, chat, true);
    expect(await listShown(tab, chat)).toEqual([]);
    // The server has deleted it meanwhile: the stored copy is the only one.
    server.files.all.clear();
    server.log(other).open = true;
    const [unsent] = listOutbox(tab.unsent);
    await retryFailedMessage(tab, unsent?.cid ?? "");
    await eventually(async () => expect(await listShown(tab, other)).toEqual(["image sent"]));
  });

  it("is evicted for newer ones, least recently used first, but never if it is still unsent", async () => {
    const { server, amina, benoit, chat } = makePair();
    const bodies = [];
    for (const seed of [1, 2, 3, 4]) bodies.push(await post(server, benoit, chat, seed));
    const phone = makeDevice(server, amina);
    phone.quota = 3 * size * 10; // a tenth of which may be cached files
    const [tab, urlCache] = await openWith(phone);
    await waitUntilDeviceSynced(server, tab, chat);
    server.refuse = (_, command) => (command.type === "send" ? { error: "unavailable" } : undefined);
    const blob = new Blob([bytesOf(9)]);
    await enqueueFiles(
      tab,
      [chat],
      [{ blob, body: { type: "file", name: "own.bin", mime: "application/octet-stream", size } }],
    );
    const { store } = getContext(tab);
    await eventually(async () => expect(listUploads(tab.unsent)).toEqual([]));
    for (const body of bodies) {
      await phone.pass(1_000);
      const { shelved, becomes } = look(urlCache, body);
      shelved.load(chat);
      await becomes("here");
    }
    const own = findAttachment(listOutbox(tab.unsent)[0]?.body ?? { type: "deleted" })?.file;
    const kept = [own, ...bodies.slice(2).map(({ file }) => file)].sort();
    await eventually(async () => expect((await store.files.toArray()).map(({ file }) => file).sort()).toEqual(kept));
    expect((await store.blobs.toArray()).map(({ file }) => file).sort()).toEqual(kept);
  });

  it("that is forwarded is read from its new conversation, and its sender stores no second copy", async () => {
    const { server, amina, benoit, chat } = makePair();
    const chantal = server.addPerson("Chantal");
    const other = server.connect(amina, chantal);
    const body = await post(server, benoit, chat, 23);
    const tab = await makeDevice(server, amina).openTab();
    await waitUntilDeviceSynced(server, tab, chat);
    await enqueueForward(tab, chat, { key: "", seq: 1, mine: false, at: 0, body, status: "sent" }, [other]);
    await eventually(() => expect(server.log(other).messages).toHaveLength(1));
    await waitUntilDeviceSynced(server, tab, other);
    const chantalDevice = makeDevice(server, chantal);
    const [laptop, urlCache] = await openWith(chantalDevice);
    await waitUntilDeviceSynced(server, laptop, other);
    const { shelved, becomes } = look(urlCache, body);
    shelved.load(other);
    await becomes("here");
    expect(await shownBytes(chantalDevice, shelved.get().url)).toEqual(bytesOf(23));
  });
});

describe("a voice message being recorded", () => {
  const piece = (text: string) => new Blob([text], { type: "audio/webm" });

  it("is restored after its page was killed, chunk by chunk in order, until it is discarded", async () => {
    const { server, amina, chat } = makePair();
    const phone = makeDevice(server, amina);
    phone.faults.isOffline = true;
    const first = await phone.openTab();
    const recording = { conversation: chat, startedAt: 5, mime: "audio/webm" };
    for (let n = 1; n <= 12; n++)
      await appendRecordingChunk(
        first,
        { ...recording, ms: n * 1_000, levels: Array<number>(n).fill(1) },
        piece(`${n},`),
      );
    await phone.kill(first);
    const second = await phone.openTab();
    const found = await findRecordingDraft(second, chat);
    expect(found).toMatchObject({ startedAt: 5, mime: "audio/webm", ms: 12_000, levels: Array(12).fill(1) });
    expect(await new Blob(found?.chunks).text()).toBe("1,2,3,4,5,6,7,8,9,10,11,12,");
    await deleteRecordingDraft(second, chat);
    expect(await findRecordingDraft(second, chat)).toBeUndefined();
    await eventually(async () => expect(await listUnsentBytes(second)).toEqual([]));
  });

  it("keeps a recording that another tab has not sent yet, and each is deleted separately", async () => {
    const { server, amina, chat } = makePair();
    const phone = makeDevice(server, amina);
    const [first, second] = [await phone.openTab(), await phone.openTab()];
    const recording = { conversation: chat, mime: "audio/webm", ms: 1_000, levels: [] };
    const textOf = async (tab: SyncClient) => new Blob((await findRecordingDraft(tab, chat))?.chunks).text();
    await appendRecordingChunk(first, { ...recording, startedAt: 1 }, piece("old"));
    const lock = await acquireRecordingLock(second, chat, 2);
    await appendRecordingChunk(second, { ...recording, startedAt: 2 }, piece("new, "));
    await appendRecordingChunk(first, { ...recording, startedAt: 1 }, piece("er"));
    await appendRecordingChunk(second, { ...recording, startedAt: 2 }, piece("newer"));
    const listStarts = () => listUnsentContent(first.unsent.list(), chat).recordings.map(({ startedAt }) => startedAt);
    await eventually(() => expect(listStarts()).toEqual([1, 2]));
    expect(await readUnsentSummary(getContext(first))).toMatchObject({ drafts: 1 });
    expect(await textOf(first)).toBe("older");
    await deleteRecordingDraft(first, chat, 1);
    // A recording in progress is not offered; a finished one is.
    const found = textOf(first);
    lock?.release();
    expect(await found).toBe("new, newer");
    await deleteRecordingDraft(first, chat, 2);
    expect(await findRecordingDraft(first, chat)).toBeUndefined();
    await eventually(async () => expect(await listUnsentBytes(first)).toEqual([]));
  });

  it("is not offered by another tab", async () => {
    const { server, amina, chat } = makePair();
    const phone = makeDevice(server, amina);
    const [first, second] = [await phone.openTab(), await phone.openTab()];
    await acquireRecordingLock(first, chat, 1);
    const recording = { conversation: chat, startedAt: 1, mime: "audio/webm", ms: 1_000, levels: [] };
    await appendRecordingChunk(first, recording, piece("spoken"));
    const offered = findRecordingDraft(second, chat);
    await phone.pass(3_000);
    expect(await offered).toBeUndefined();
  });
});
