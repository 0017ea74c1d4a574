import { IDBObjectStore } from "fake-indexeddb";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { DraftKeeper } from "#sync/drafts/draft-keeper.ts";
import { appendRecordingChunk, findRecordingDraft } from "#sync/drafts/voice-drafts.ts";
import { enqueuePost, listPendingPosts } from "#sync/feed/post-queue.ts";
import { ObjectUrlCache } from "#sync/files/object-urls.ts";
import { listUploads } from "#sync/unsent/uploads.ts";
import { eventually } from "#tests/support/model/eventually.ts";
import { getContext, waitUntilDeviceSynced } from "#tests/support/model/model-checks.ts";
import { makeDevice, makePair } from "#tests/support/model/model-fixtures.ts";
import {
  expectEachPartOnce,
  fourPartSize,
  getOnlyFile,
  makePicture,
  sendFiles,
} from "#tests/support/model/outgoing-files.ts";

const findBlob = (value: unknown): boolean =>
  value instanceof Blob ||
  (typeof value === "object" && value !== null && Object.values(value).some((part) => findBlob(part)));

/** As in Safari's private windows. */
beforeEach(() => {
  for (const method of ["put", "add"] as const) {
    const write = IDBObjectStore.prototype[method];
    vi.spyOn(IDBObjectStore.prototype, method).mockImplementation(function (this: IDBObjectStore, value, ...rest) {
      if (findBlob(value)) throw new DOMException("BlobURLs are not yet supported.", "DataCloneError");
      return write.call(this, value, ...rest);
    });
  }
});

afterEach(() => {
  vi.restoreAllMocks();
});

it("a picture is uploaded and shown from a database that takes no Blobs", async () => {
  const { server, amina, chat } = makePair();
  const phone = makeDevice(server, amina);
  const tab = await phone.openTab();
  const context = getContext(tab);
  await sendFiles(tab, chat, makePicture(fourPartSize));
  await waitUntilDeviceSynced(server, tab, chat);
  await eventually(async () => expect(listUploads(tab.unsent)).toEqual([]));
  expectEachPartOnce(server, fourPartSize);

  const cache = new ObjectUrlCache(tab);
  const { id } = getOnlyFile(server);
  const shown = cache.get({ file: id, mime: "image/jpeg", size: fourPartSize });
  const unsubscribe = shown.subscribe(() => {});
  await eventually(() => expect(shown.get().state).toBe("here"));
  expect([...phone.openUrls.values()]).toMatchObject([{ type: "image/jpeg", size: fourPartSize }]);
  unsubscribe();
  expect(tab.context.get() === context).toBe(true);
  expect(phone.notices).toEqual([]);
});

it("attachments, recordings and statuses survive their page in a database that takes no Blobs", async () => {
  const { server, amina, chat } = makePair();
  const phone = makeDevice(server, amina);
  const first = await phone.openTab();
  phone.faults.isOffline = true;
  const keeper = await DraftKeeper.open(first, chat);
  const photo = new File(["photo"], "a.jpg", { type: "image/jpeg" });
  keeper?.save({ files: [photo], captions: new Map(), isOriginal: false, text: "", to: [] });
  await keeper?.close();
  const recording = { conversation: chat, startedAt: 5, mime: "audio/webm", ms: 900, levels: [1] };
  for (const sound of ["so", "und"]) await appendRecordingChunk(first, recording, new Blob([sound]));
  const picture = { blob: new Blob(["status"]), width: 1, height: 1, thumb: "" };
  await enqueuePost(first, "hello", picture, "everyone");
  await phone.close(first);

  const tab = await phone.openTab();
  const onRestored = vi.fn();
  await DraftKeeper.open(tab, chat, onRestored);
  const [{ files }] = onRestored.mock.calls[0] as [{ files: File[] }];
  expect(await files[0]?.text()).toBe("photo");
  const found = await findRecordingDraft(tab, chat);
  expect(await new Blob(found?.chunks).text()).toBe("sound");
  const [post] = await listPendingPosts(getContext(tab));
  expect(await post?.blob?.text()).toBe("status");
  expect(phone.notices).toEqual([]);
});

it("a value that the browser cannot store is no reason to replace the database", async () => {
  const { server, amina } = makePair();
  const phone = makeDevice(server, amina);
  const tab = await phone.openTab();
  const context = getContext(tab);
  for (let times = 0; times < 3; times++) {
    const refused = context.store.meta.put({ key: "value", value: new Blob(["x"]) });
    await refused.catch((error: unknown) => context.reportStoreFailure(error));
    await phone.pass(100);
  }
  expect(tab.context.get() === context).toBe(true);
  expect(phone.notices).toEqual([]);
});
