import { expect } from "vitest";
import { partCount } from "#contract/files.ts";
import type { ConversationId } from "#contract/ids.ts";
import { filePartBytes } from "#contract/limits/files.ts";
import type { HttpRequest } from "#contract/wire/http-commands.ts";
import { bytesTable, toPromise, UnsentDatabase } from "#lib/unsent/unsent-database.ts";
import type { SyncClient } from "#sync/engine/sync-client.ts";
import { enqueueFiles } from "#sync/sending/files/send-files.ts";
import type { OutgoingFile } from "#sync/store/view-models.ts";
import { listOutbox } from "#sync/unsent/messages.ts";
import { listUploads } from "#sync/unsent/uploads.ts";
import { getContext } from "./model-checks.ts";
import type { ModelServer } from "./model-server.ts";

/** Bytes without repetition. */
export const makeBytes = (size: number) => Uint8Array.from({ length: size }, (_, i) => (i * 31 + (i >> 8)) % 251);

export const makePicture = (size: number, text?: string): OutgoingFile => ({
  blob: new Blob([makeBytes(size)], { type: "image/jpeg" }),
  body: {
    type: "image",
    name: "IMG_1.jpg",
    mime: "image/jpeg",
    size,
    width: 40,
    height: 30,
    thumb: "",
    ...(text ? { text } : {}),
  },
});

export const fourPartSize = 3 * filePartBytes + 1_000;

export const sendFiles = (tab: SyncClient, chat: ConversationId, ...files: OutgoingFile[]) =>
  enqueueFiles(tab, [chat], files);
export const isPart = ({ path }: HttpRequest) => path.includes("/parts/");

export const getOnlyFile = (server: ModelServer) => {
  const files = [...server.files.all.values()];
  expect(files).toHaveLength(1);
  return files[0] as (typeof files)[0];
};

export const expectEachPartOnce = (server: ModelServer, size: number) => {
  const { arrivals } = getOnlyFile(server);
  expect([...arrivals].sort(([a], [b]) => a - b)).toEqual(
    Array.from({ length: partCount(size) }, (_, part) => [part, 1]),
  );
};

/** Ids of the bytes that the device has not sent, such as files and pieces of recordings. */
export const listUnsentBytes = async (tab: SyncClient): Promise<string[]> => {
  const { platform, me } = getContext(tab);
  const indexedDB = platform.indexedDb?.indexedDB as IDBFactory;
  const database = new UnsentDatabase(me, { indexedDB, openChannel: () => undefined });
  try {
    const ids = await database.read([bytesTable], (access) => toPromise(access(bytesTable).getAllKeys()));
    return ids.map(String);
  } finally {
    database.close();
  }
};

/** Unsent messages, running uploads, and the files that are stored on the device, unsent or cached. */
export const countUnsent = async (tab: SyncClient) => {
  const cached = await getContext(tab).store.blobs.toCollection().primaryKeys();
  const files = new Set([...(await listUnsentBytes(tab)), ...cached]).size;
  return { outbox: listOutbox(tab.unsent).length, uploads: listUploads(tab.unsent).length, files };
};
