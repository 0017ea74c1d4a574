import type { Uuid } from "#contract/ids.ts";

/** Storage of file bytes in R2: parts during the upload, then one object under a key that cannot be guessed. */
export type StoredFile = { id: Uuid; created_at: number; key: string | null };

const timeDigits = 13;
const partDigits = 3;

/** Parts are listed in the order of their files' announcement, so that orphaned parts come first. */
export const partsPrefix = "parts/";
const toPartsPrefix = ({ id, created_at }: StoredFile): string =>
  `${partsPrefix}${String(created_at).padStart(timeDigits, "0")}_${id}/`;

/** Announcement time of a part's file. */
export const readAnnouncedAt = (key: string): number =>
  Number(key.slice(partsPrefix.length, partsPrefix.length + timeDigits));

export const toPartKey = (file: StoredFile, part: number): string =>
  `${toPartsPrefix(file)}${String(part).padStart(partDigits, "0")}`;

/** Received parts in ascending order with their sizes. A file has far fewer than a listing can return (1,000). */
export const listParts = async (bucket: R2Bucket, file: StoredFile): Promise<{ part: number; size: number }[]> => {
  const { objects } = await bucket.list({ prefix: toPartsPrefix(file) });
  return objects.map(({ key, size }) => ({ part: Number(key.slice(-partDigits)), size }));
};

export const deleteParts = async (bucket: R2Bucket, file: StoredFile): Promise<void> => {
  const { objects } = await bucket.list({ prefix: toPartsPrefix(file) });
  if (objects.length > 0) await bucket.delete(objects.map(({ key }) => key));
};

/** Deletes all bytes of a file in R2. Idempotent. */
export const deleteFileBytes = async (bucket: R2Bucket, file: StoredFile): Promise<void> => {
  if (file.key !== null) await bucket.delete(file.key);
  await deleteParts(bucket, file);
};
