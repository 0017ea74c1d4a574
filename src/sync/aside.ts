import Dexie, { type Table } from "dexie";
import type { Platform } from "./platform";
import { isQuotaError } from "./room";
import type { BlobRow, OutboxRow, UploadRow } from "./store";

/** What nobody else has: unsent messages, and the files of those that name some. */
export type UnsentRows = { outbox: OutboxRow[]; uploads: UploadRow[]; blobs: BlobRow[] };

/**
 * Where unsent messages stand while the store they were in is made anew: a store of its own on the same phone,
 * so that a page that dies in the middle leaves them somewhere.
 */
class Aside extends Dexie {
  declare outbox: Table<OutboxRow, string>;
  declare uploads: Table<UploadRow, string>;
  declare blobs: Table<BlobRow, string>;

  constructor(platform: Platform, name: string) {
    super(`${name}-unsent`, { ...platform.storage, chromeTransactionDurability: "strict", cache: "disabled" });
    this.version(1).stores({ outbox: "cid" });
    this.version(2).stores({ uploads: "file", blobs: "file" });
  }
}

export const keepAside = async (platform: Platform, name: string, unsent: UnsentRows): Promise<void> => {
  const aside = new Aside(platform, name);
  try {
    await aside.outbox.bulkPut(unsent.outbox);
    await aside.uploads.bulkPut(unsent.uploads);
    for (const row of unsent.blobs) await aside.blobs.put(row);
  } catch (error) {
    if (!isQuotaError(error)) throw error; // texts come first, then as many files as there is room for
  } finally {
    aside.close();
  }
};

/** What an earlier page could not put back. */
export const readAside = async (platform: Platform, name: string): Promise<UnsentRows> => {
  const aside = new Aside(platform, name);
  try {
    const [outbox, uploads, blobs] = await Promise.all([
      aside.outbox.toArray(),
      aside.uploads.toArray(),
      aside.blobs.toArray(),
    ]);
    return { outbox, uploads, blobs };
  } finally {
    aside.close();
  }
};

export const dropAside = async (platform: Platform, name: string): Promise<void> => {
  await new Aside(platform, name).delete();
};
