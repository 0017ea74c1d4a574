import { describe, expect, it } from "vitest";
import type { ConversationId, Uuid } from "#contract/ids.ts";
import { filePartBytes, filePartsAtOnce } from "#contract/limits/files.ts";
import { isRefusal } from "#contract/wire/commands.ts";
import type { HttpRequest } from "#contract/wire/http-commands.ts";
import type { SyncClient } from "#sync/engine/sync-client.ts";
import { SyncError } from "#sync/platform/sync-error.ts";
import { readChat } from "#sync/queries/chat-messages.ts";
import { discardUnsentMessage } from "#sync/sending/discard-message.ts";
import { enqueueText } from "#sync/sending/enqueue.ts";
import { retryFailedMessage, setUploadPaused } from "#sync/sending/files/retry-message.ts";
import { enqueueFiles } from "#sync/sending/files/send-files.ts";
import { Uploader } from "#sync/sending/files/uploader.ts";
import type { UploadRow } from "#sync/unsent/attachment-rows.ts";
import { listUnsent } from "#sync/unsent/messages.ts";
import { changeUpload, listUploads, removeUpload } from "#sync/unsent/uploads.ts";
import { eventually } from "#tests/support/model/eventually.ts";
import { getContext, listShown, listTexts, waitUntilDeviceSynced } from "#tests/support/model/model-checks.ts";
import type { ModelDevice } from "#tests/support/model/model-device.ts";
import { makeDevice, makePair } from "#tests/support/model/model-fixtures.ts";
import {
  countUnsent,
  expectEachPartOnce,
  fourPartSize,
  getOnlyFile,
  isPart,
  makeBytes,
  makePicture,
  sendFiles,
} from "#tests/support/model/outgoing-files.ts";

const cidOf = async (tab: SyncClient, chat: ConversationId): Promise<Uuid> =>
  listUnsent(tab.unsent, chat)[0]?.cid ?? "";

const uploadIn = async (tab: SyncClient, chat: ConversationId) =>
  (await readChat(getContext(tab), chat, 100)).items.find(({ upload }) => upload)?.upload;

/** A phone whose connection accepts this many parts and then nothing more. */
const cutAfter = (phone: ModelDevice, parts: number) => {
  let left = parts;
  phone.shouldLose = (request, what) => isPart(request) && what === "request" && left-- <= 0;
};

describe("a file being uploaded", () => {
  it("is uploaded in parts, followed by its message, and is available here without a download", async () => {
    const { server, amina, benoit, chat } = makePair();
    const phone = makeDevice(server, amina);
    const tab = await phone.openTab();
    await sendFiles(tab, chat, makePicture(fourPartSize, "  Maman  "));
    await waitUntilDeviceSynced(server, tab, chat);
    expect(server.log(chat).messages).toMatchObject([{ body: { type: "image", text: "Maman", size: fourPartSize } }]);
    expectEachPartOnce(server, fourPartSize);
    expect(server.files.bytes(getOnlyFile(server).id)).toEqual(makeBytes(fourPartSize));
    expect(await countUnsent(tab)).toEqual({ outbox: 0, uploads: 0, files: 1 });
    const kept = await getContext(tab).store.blobs.get(getOnlyFile(server).id);
    expect(await new Response(kept?.blob).bytes()).toEqual(makeBytes(fourPartSize));
    expect(phone.downloads).toEqual([]);
    const benoitTab = await makeDevice(server, benoit).openTab();
    await waitUntilDeviceSynced(server, benoitTab, chat);
  });

  it("shows its progress in every tab", async () => {
    const { server, amina, chat } = makePair();
    const phone = makeDevice(server, amina);
    const first = await phone.openTab();
    const second = await phone.openTab();
    await waitUntilDeviceSynced(server, second, chat);
    cutAfter(phone, 2);
    await sendFiles(second, chat, makePicture(fourPartSize));
    for (const tab of [first, second])
      await eventually(async () =>
        expect(await uploadIn(tab, chat)).toMatchObject({ sent: 2 * filePartBytes, size: fourPartSize }),
      );
    phone.shouldLose = () => false;
    await waitUntilDeviceSynced(server, second, chat);
    expect(await uploadIn(second, chat)).toBeUndefined();
  });

  it("is overtaken by later texts, and takes its position on arrival", async () => {
    const { server, amina, chat } = makePair();
    const phone = makeDevice(server, amina);
    const tab = await phone.openTab();
    cutAfter(phone, 1);
    await enqueueText(tab, chat, "before");
    await sendFiles(tab, chat, makePicture(fourPartSize));
    await enqueueText(tab, chat, "after");
    await eventually(async () =>
      expect(await listShown(tab, chat)).toEqual(["before sent", "after sent", "image sending"]),
    );
    phone.shouldLose = () => false;
    await waitUntilDeviceSynced(server, tab, chat);
    expect(await listTexts(tab, chat)).toEqual(["before", "after", "image"]);
  });

  const steps = 7; // announced, four parts, completed, and one more request in between
  const losses = Array.from({ length: steps }, (_, step) => [
    ["request", step],
    ["answer", step],
  ]).flat() as ["request" | "answer", number][];
  it.each(losses)("continues after a lost %s (step %i), and no part is sent twice", async (lost, step) => {
    const { server, amina, chat } = makePair();
    const phone = makeDevice(server, amina);
    const tab = await phone.openTab();
    let count = 0;
    phone.shouldLose = ({ path }, what) => path.startsWith("/api/files/") && what === lost && count++ === step;
    await sendFiles(tab, chat, makePicture(fourPartSize));
    await waitUntilDeviceSynced(server, tab, chat);
    expectEachPartOnce(server, fourPartSize);
    expect(server.log(chat).messages).toHaveLength(1);
  });

  it("continues after its page was killed, in a page opened later", async () => {
    const { server, amina, chat } = makePair();
    const phone = makeDevice(server, amina);
    const first = await phone.openTab();
    cutAfter(phone, 2);
    await sendFiles(first, chat, makePicture(fourPartSize));
    await eventually(() => expect(getOnlyFile(server).parts.size).toBe(2));
    await phone.kill(first);
    phone.shouldLose = () => false;
    const second = await phone.openTab();
    await waitUntilDeviceSynced(server, second, chat);
    expectEachPartOnce(server, fourPartSize);
    expect(await countUnsent(second)).toEqual({ outbox: 0, uploads: 0, files: 1 });
  });

  it("is started again by the next page if its page ended before it had noted the upload", async () => {
    const { server, amina, chat } = makePair();
    const phone = makeDevice(server, amina);
    phone.faults.isOffline = true;
    const first = await phone.openTab();
    await sendFiles(first, chat, makePicture(500));
    await first.unsent.changeAll(listUploads(first.unsent).map(({ file }) => removeUpload(file)));
    await phone.close(first);
    phone.faults.isOffline = false;
    const tab = await phone.openTab();
    await eventually(() => expect(server.log(chat).messages).toHaveLength(1));
    await waitUntilDeviceSynced(server, tab, chat);
    expect(server.files.bytes(getOnlyFile(server).id)).toEqual(makeBytes(500));
  });

  it("is taken over by another tab when the leader is closed during the upload", async () => {
    const { server, amina, chat } = makePair();
    const phone = makeDevice(server, amina);
    const first = await phone.openTab();
    const second = await phone.openTab();
    cutAfter(phone, 2);
    await sendFiles(second, chat, makePicture(fourPartSize));
    await eventually(() => expect(getOnlyFile(server).parts.size).toBe(2));
    await phone.close(first);
    phone.shouldLose = () => false;
    await eventually(() => expect(second.isLeader).toBe(true));
    await waitUntilDeviceSynced(server, second, chat);
    expectEachPartOnce(server, fourPartSize);
  });

  it("can be paused and resumed, and a cancelled upload leaves nothing behind", async () => {
    const { server, amina, chat } = makePair();
    const phone = makeDevice(server, amina);
    await phone.openTab();
    const tab = await phone.openTab();
    cutAfter(phone, 1);
    await sendFiles(tab, chat, makePicture(fourPartSize));
    await eventually(() => expect(getOnlyFile(server).parts.size).toBe(1));
    const cid = await cidOf(tab, chat);
    await setUploadPaused(tab, cid, true);
    await phone.pass(2_000); // running requests end
    phone.shouldLose = () => false;
    await phone.pass(60_000);
    expect(getOnlyFile(server).parts.size).toBe(1);
    expect(await uploadIn(tab, chat)).toMatchObject({ state: "paused" });
    cutAfter(phone, 1);
    await setUploadPaused(tab, cid, false);
    await eventually(() => expect(getOnlyFile(server).parts.size).toBe(2));
    await discardUnsentMessage(tab, cid);
    expect(await listShown(tab, chat)).toEqual([]);
    await eventually(() => expect(getOnlyFile(server).isRemoved).toBe(true));
    await eventually(async () => expect(await countUnsent(tab)).toEqual({ outbox: 0, uploads: 0, files: 0 }));
    phone.shouldLose = () => false;
    await phone.pass(60_000);
    expect(server.log(chat).messages).toEqual([]);
  });

  it("that is refused permanently shows the reason, and can be retried", async () => {
    const { server, amina, chat } = makePair();
    const tab = await makeDevice(server, amina).openTab();
    server.files.refuse = (_, { path }) =>
      path.endsWith("/complete") ? { error: "image_too_many_pixels" } : undefined;
    await sendFiles(tab, chat, makePicture(500));
    await eventually(async () => expect(await listShown(tab, chat)).toEqual(["image failed"]));
    const [item] = (await readChat(getContext(tab), chat, 10)).items;
    expect(item).toMatchObject({ error: "image_too_many_pixels", upload: { state: "failed" } });
    server.files.refuse = () => undefined;
    await retryFailedMessage(tab, item?.cid ?? "");
    await waitUntilDeviceSynced(server, tab, chat);
    expectEachPartOnce(server, 500);
  });

  it("waits after a temporary refusal", async () => {
    const { server, amina, chat } = makePair();
    const tab = await makeDevice(server, amina).openTab();
    let refusals = 0;
    server.files.refuse = (_, request) =>
      isPart(request) && refusals++ < 5 ? { error: "rate_limited", retryAfterMs: 3_000 } : undefined;
    await sendFiles(tab, chat, makePicture(fourPartSize));
    await waitUntilDeviceSynced(server, tab, chat);
    expectEachPartOnce(server, fourPartSize);
  });

  it("waits for a network for any time", async () => {
    const { server, amina, chat } = makePair();
    const phone = makeDevice(server, amina);
    const tab = await phone.openTab();
    cutAfter(phone, 2);
    await sendFiles(tab, chat, makePicture(fourPartSize));
    const [{ file = "" } = {}] = listUploads(tab.unsent);
    const age = (row: UploadRow) => ({ ...row, createdAt: row.createdAt - 8 * 24 * 3_600_000 });
    await tab.unsent.changeAll([changeUpload(file, phone.now(), age)]);
    const tries = phone.requests.length;
    await eventually(() => expect(phone.requests.length).toBeGreaterThan(tries + 6));
    phone.shouldLose = () => false;
    await waitUntilDeviceSynced(server, tab, chat);
    expectEachPartOnce(server, fourPartSize);
  });

  it("whose content has another type is sent as a file, and shown as its recipients see it", async () => {
    const { server, amina, chat } = makePair();
    const tab = await makeDevice(server, amina).openTab();
    server.files.detected = { type: "application/pdf" };
    await sendFiles(tab, chat, makePicture(500, "words"));
    await waitUntilDeviceSynced(server, tab, chat);
    expect(server.log(chat).messages).toMatchObject([
      { body: { type: "file", mime: "application/pdf", text: "words" } },
    ]);
  });

  it("that the server deleted before its message was sent is uploaded again", async () => {
    const { server, amina, chat } = makePair();
    const tab = await makeDevice(server, amina).openTab();
    server.refuse = (_, command) => (command.type === "send" ? { error: "unavailable" } : undefined);
    await sendFiles(tab, chat, makePicture(fourPartSize));
    await eventually(() => expect(getOnlyFile(server).isReady).toBe(true));
    getOnlyFile(server).isRemoved = true;
    server.refuse = () => undefined;
    await waitUntilDeviceSynced(server, tab, chat);
    expect(server.files.all.size).toBe(2);
    expect(await countUnsent(tab)).toEqual({ outbox: 0, uploads: 0, files: 1 });
  });

  it("is uploaded once for all the conversations it is sent to", async () => {
    const { server, amina, chat } = makePair();
    const others = ["Chantal", "Dieudonné"].map((name) => server.connect(amina, server.addPerson(name)));
    const tab = await makeDevice(server, amina).openTab();
    await enqueueFiles(tab, [chat, ...others], [makePicture(fourPartSize)]);
    for (const one of [chat, ...others]) await waitUntilDeviceSynced(server, tab, one);
    expectEachPartOnce(server, fourPartSize);
    for (const one of [chat, ...others]) expect(server.log(one).messages).toHaveLength(1);
    // In one pass: only unanswered requests are repeated.
    const spread = server.executedCommands.flatMap(({ command }) =>
      command.type === "multicast" ? [command.to.length] : [],
    );
    expect(spread[0]).toBe(3);
    expect(server.executedCommands.filter(({ command }) => command.type === "send")).toEqual([]);
  });

  it("uploads at most two files and three parts at once, and none while a message waits", async () => {
    const { server, amina, chat } = makePair();
    const phone = makeDevice(server, amina);
    phone.faults.isOffline = true;
    const tab = await phone.openTab();
    await sendFiles(tab, chat, ...Array.from({ length: 4 }, () => makePicture(4 * filePartBytes)));
    const context = getContext(tab);
    let [atOnce, most] = [0, 0];
    const files = new Set<string>();
    let mostFiles = 0;
    let isTextWaiting = true;
    const started: HttpRequest[] = [];
    // Requests stay unanswered until as many run as ever will, for long after that number was reached.
    const isFull = async () => {
      await eventually(() => expect(atOnce).toBe(filePartsAtOnce));
      await phone.pass(2_000);
    };
    let full: Promise<void> | undefined;
    const now = phone.now();
    const platform = {
      ...context.platform,
      now: () => now, // Waiting for a message has a limit, which a busy machine would need.
      request: async (request: HttpRequest) => {
        const id = request.path.split("/")[3] ?? "";
        files.add(id);
        mostFiles = Math.max(mostFiles, files.size);
        if (isPart(request)) {
          started.push(request);
          most = Math.max(most, ++atOnce);
          full ??= isFull();
          await full;
          await phone.pass(1_000);
          atOnce--;
        }
        const answer = await server.files.handle(amina, request);
        if (request.path.endsWith("/complete")) files.delete(id);
        if (answer && isRefusal(answer)) throw new SyncError(answer.error);
        return answer;
      },
    };
    const uploader = new Uploader(
      { ...context, platform },
      { isMessageInFlight: () => isTextWaiting, onFileUploaded: () => {} },
    );
    uploader.schedule();
    await eventually(() => expect(files.size).toBe(2));
    await phone.pass(6_000);
    expect(started).toEqual([]);
    isTextWaiting = false;
    await eventually(() => expect(listUploads(tab.unsent)).toEqual([]));
    uploader.stop();
    expect({ most, mostFiles }).toEqual({ most: filePartsAtOnce, mostFiles: 2 });
  });
});
