import { partBytes, partCount } from "#contract/files.ts";
import { listParts, toPartKey } from "#worker/lib/storage/file-bytes.ts";
import type { FileRecord } from "./queries.ts";

const partsAhead = 4; // read at once; with the object that is written they stay below the platform's six connections

/**
 * A part is not there (any more): another request has completed the file, it was taken back, or the part that is listed
 * here was lost.
 */
export class PartMissingError extends Error {
  readonly part: number | undefined;

  constructor(part?: number) {
    super("a part is missing");
    this.part = part;
  }
}

/** The numbers of the parts that need not be sent again. */
export const listReceivedParts = async (bucket: R2Bucket, file: FileRecord): Promise<number[]> => {
  const all = partCount(file.announced_size);
  if (file.status === "ready") return Array.from({ length: all }, (_, part) => part);
  const parts = await listParts(bucket, file);
  return parts.filter(({ part, size }) => size === partBytes(file.announced_size, part)).map(({ part }) => part);
};

/** Keeps a part. The first that comes stays: what was looked at while completing cannot be changed afterwards. */
export const storePart = async (
  bucket: R2Bucket,
  file: FileRecord,
  part: number,
  bytes: ArrayBuffer,
): Promise<void> => {
  await bucket.put(toPartKey(file, part), bytes, { onlyIf: { etagDoesNotMatch: "*" } });
};

export const readPart = async (bucket: R2Bucket, file: FileRecord, part: number): Promise<Uint8Array> => {
  const object = await bucket.get(toPartKey(file, part));
  if (!object) throw new PartMissingError(part);
  return new Uint8Array(await object.arrayBuffer());
};

/** What is still listed of a part that cannot be read goes, so that it is asked for and taken again. */
export const deletePart = (bucket: R2Bucket, file: FileRecord, part: number): Promise<void> =>
  bucket.delete(toPartKey(file, part));

/** All parts in order, a few read ahead. */
export async function* readParts(bucket: R2Bucket, file: FileRecord): AsyncGenerator<Uint8Array, void, void> {
  const count = partCount(file.announced_size);
  const ahead: Promise<Uint8Array>[] = [];
  let next = 0;
  for (let part = 0; part < count; part++) {
    while (next < count && next < part + partsAhead) {
      const reading = readPart(bucket, file, next++);
      reading.catch(() => undefined); // told when its turn comes
      ahead.push(reading);
    }
    const bytes = await ahead.shift();
    if (bytes) yield bytes;
  }
}

/** The whole file in memory. */
export const readWholeFile = async (bucket: R2Bucket, file: FileRecord): Promise<Uint8Array> => {
  const whole = new Uint8Array(file.announced_size);
  let at = 0;
  for await (const bytes of readParts(bucket, file)) {
    whole.set(bytes, at);
    at += bytes.length;
  }
  return whole;
};
