import type { Uuid } from "#contract/ids.ts";

/**
 * Where a file's bytes are in R2: its parts while it is received, and once it is ready one object under a key that
 * nobody can guess.
 */
export type StoredFile = { id: Uuid; created_at: number; key: string | null };

const timeDigits = 13;
const partDigits = 3;

/** Parts stand in the order their files were announced in, so that what was forgotten comes first in a listing. */
export const partsPrefix = "parts/";
const toPartsPrefix = ({ id, created_at }: StoredFile): string =>
  `${partsPrefix}${String(created_at).padStart(timeDigits, "0")}_${id}/`;

/** When the file of a part was announced. */
export const readAnnouncedAt = (key: string): number =>
  Number(key.slice(partsPrefix.length, partsPrefix.length + timeDigits));

export const toPartKey = (file: StoredFile, part: number): string =>
  `${toPartsPrefix(file)}${String(part).padStart(partDigits, "0")}`;

/** The parts that are here, ascending, with their sizes. A file has far fewer than a listing may hold (1,000). */
export const listParts = async (bucket: R2Bucket, file: StoredFile): Promise<{ part: number; size: number }[]> => {
  const { objects } = await bucket.list({ prefix: toPartsPrefix(file) });
  return objects.map(({ key, size }) => ({ part: Number(key.slice(-partDigits)), size }));
};

export const deleteParts = async (bucket: R2Bucket, file: StoredFile): Promise<void> => {
  const { objects } = await bucket.list({ prefix: toPartsPrefix(file) });
  if (objects.length > 0) await bucket.delete(objects.map(({ key }) => key));
};

/** Everything there is of a file in R2. Done twice it is still done. */
export const deleteFileBytes = async (bucket: R2Bucket, file: StoredFile): Promise<void> => {
  if (file.key !== null) await bucket.delete(file.key);
  await deleteParts(bucket, file);
};
