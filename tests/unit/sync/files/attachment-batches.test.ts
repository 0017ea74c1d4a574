import { describe, expect, it, vi } from "vitest";
import type { ConversationId } from "#contract/ids.ts";
import { findAttachment } from "#contract/messages/body.ts";
import type { HttpRequest } from "#contract/wire/http-commands.ts";
import type { SyncClient } from "#sync/engine/sync-client.ts";
import { discardUnsentMessage } from "#sync/sending/discard-message.ts";
import { enqueueText } from "#sync/sending/enqueue.ts";
import { retryFailedMessage, setUploadPaused } from "#sync/sending/files/retry-message.ts";
import { enqueueFiles } from "#sync/sending/files/send-files.ts";
import { batchWaitMs } from "#sync/sending/outbox.ts";
import { changeMessage, listOutbox, listUnsent } from "#sync/unsent/messages.ts";
import type { OutboxRow } from "#sync/unsent/outbox-row.ts";
import { eventually } from "#tests/support/model/eventually.ts";
import { getContext, listTexts, waitUntilDeviceSynced } from "#tests/support/model/model-checks.ts";
import { makeDevice, makePair } from "#tests/support/model/model-fixtures.ts";
import type { ModelServer } from "#tests/support/model/model-server.ts";
import { fourPartSize, isPart, makePicture } from "#tests/support/model/outgoing-files.ts";

const smallBytes = 1_000;

const captionsOf = (server: ModelServer, chat: ConversationId) =>
  server.log(chat).messages.map(({ body }) => ("text" in body ? body.text : body.type));

const unsentOf = (tab: SyncClient, chat: ConversationId) => listUnsent(tab.unsent, chat);

/** Only uploads of more than one part are blocked. */
const isBig = (request: HttpRequest) => isPart(request) && !request.path.endsWith("/parts/0");

/** A phone on which the first of three files chosen together is blocked, and the other two have arrived. */
const makeStuck = async () => {
  const { server, amina, chat } = makePair();
  const phone = makeDevice(server, amina);
  const tab = await phone.openTab();
  await waitUntilDeviceSynced(server, tab, chat);
  phone.shouldLose = isBig;
  await enqueueFiles(
    tab,
    [chat],
    [makePicture(fourPartSize, "one"), makePicture(smallBytes, "two"), makePicture(smallBytes, "three")],
  );
  await eventually(async () =>
    expect((await unsentOf(tab, chat)).map(({ state }) => state)).toEqual(["awaiting", "queued", "queued"]),
  );
  const first = (await unsentOf(tab, chat))[0]?.cid ?? "";
  return { server, phone, tab, chat, first };
};

describe("files chosen together", () => {
  it("arrive in the order they were chosen, whichever is uploaded first; later texts overtake them", async () => {
    const { server, phone, tab, chat } = await makeStuck();
    await enqueueText(tab, chat, "later");
    await eventually(() => expect(captionsOf(server, chat)).toEqual(["later"]));
    await phone.pass(30_000);
    expect(captionsOf(server, chat)).toEqual(["later"]);
    phone.shouldLose = () => false;
    await waitUntilDeviceSynced(server, tab, chat);
    expect(captionsOf(server, chat)).toEqual(["later", "one", "two", "three"]);
    expect(await listTexts(tab, chat)).toHaveLength(4);
  });

  it("are uploaded in the order they were chosen", async () => {
    const { server, amina, chat } = makePair();
    const phone = makeDevice(server, amina);
    phone.faults.isOffline = true;
    const tab = await phone.openTab();
    const captions = Array.from({ length: 12 }, (_, n) => `n${n}`);
    await enqueueFiles(
      tab,
      [chat],
      captions.map((text) => makePicture(smallBytes, text)),
    );
    const chosen = (await unsentOf(tab, chat)).map(({ body }) => findAttachment(body)?.file);
    const before = phone.requests.length;
    phone.faults.isOffline = false;
    phone.wake();
    await waitUntilDeviceSynced(server, tab, chat);
    expect(captionsOf(server, chat)).toEqual(captions);
    const parts = phone.requests.slice(before).filter(isPart);
    const started = parts.map(({ path }) => chosen.findIndex((file) => path.includes(file ?? "")));
    // Two are uploaded at a time, and either may be a step ahead.
    for (const [at, n] of started.entries()) expect(Math.abs(at - n)).toBeLessThanOrEqual(1);
  });

  it("do not wait for one that was paused, has failed or was cancelled", async () => {
    const paused = await makeStuck();
    await setUploadPaused(paused.tab, paused.first, true);
    await eventually(() => expect(captionsOf(paused.server, paused.chat)).toEqual(["two", "three"]));
    paused.phone.shouldLose = () => false;
    await setUploadPaused(paused.tab, paused.first, false);
    await waitUntilDeviceSynced(paused.server, paused.tab, paused.chat);
    expect(captionsOf(paused.server, paused.chat)).toEqual(["two", "three", "one"]);

    const failed = await makeStuck();
    const fail = (row: OutboxRow): OutboxRow => ({ ...row, state: "failed", error: "file_not_found" });
    await failed.tab.unsent.changeAll([changeMessage(failed.first, failed.tab.platform.now(), fail)]);
    failed.tab.notifyChanged("outbox");
    await eventually(() => expect(captionsOf(failed.server, failed.chat)).toEqual(["two", "three"]));
    failed.phone.shouldLose = () => false;
    await retryFailedMessage(failed.tab, failed.first);
    await waitUntilDeviceSynced(failed.server, failed.tab, failed.chat);
    expect(captionsOf(failed.server, failed.chat)).toEqual(["two", "three", "one"]);

    const discarded = await makeStuck();
    await discardUnsentMessage(discarded.tab, discarded.first);
    await waitUntilDeviceSynced(discarded.server, discarded.tab, discarded.chat);
    expect(captionsOf(discarded.server, discarded.chat)).toEqual(["two", "three"]);
  });

  it("do not wait forever for one that is blocked", async () => {
    const { server, phone, tab, chat } = await makeStuck();
    const { platform } = getContext(tab);
    const almostOver = platform.now() - batchWaitMs + 20_000;
    const clock = vi.spyOn(platform, "now").mockReturnValue(platform.now());
    const queued = listOutbox(tab.unsent).filter(({ state }) => state === "queued");
    const delay = (row: OutboxRow): OutboxRow => ({ ...row, readyAt: almostOver });
    await tab.unsent.changeAll(queued.map(({ cid }) => changeMessage(cid, platform.now(), delay)));
    tab.notifyChanged("outbox");
    await phone.pass(5_000);
    expect(captionsOf(server, chat)).toEqual([]);
    clock.mockRestore();
    await eventually(() => expect(captionsOf(server, chat)).toEqual(["two", "three"]));
    phone.shouldLose = () => false;
    await waitUntilDeviceSynced(server, tab, chat);
    expect(captionsOf(server, chat)).toEqual(["two", "three", "one"]);
  });
});
