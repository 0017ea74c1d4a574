import { partBytes, partCount } from "#contract/files.ts";
import type { FileRecord } from "#worker/db/files.ts";
import { listParts, toPartKey } from "#worker/lib/storage/file-bytes.ts";

const partsAhead = 4; // read at once; with the object being written they stay below the platform's six connections

/** A part is missing: another request has completed the file, the upload was cancelled, or the listed part was lost. */
export class PartMissingError extends Error {
  readonly part: number | undefined;

  constructor(part?: number) {
    super("a part is missing");
    this.part = part;
  }
}

/** Indices of the parts that need not be sent again. */
export const listReceivedParts = async (bucket: R2Bucket, file: FileRecord): Promise<number[]> => {
  const all = partCount(file.announced_size);
  if (file.status === "ready") return Array.from({ length: all }, (_, part) => part);
  const parts = await listParts(bucket, file);
  return parts.filter(({ part, size }) => size === partBytes(file.announced_size, part)).map(({ part }) => part);
};

/**
 * Stores a part. The first copy stays, so that a part already inspected during completion cannot be changed afterwards.
 */
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

/** Deletes a part that is listed but cannot be read, so that the client sends it again. */
export const deletePart = (bucket: R2Bucket, file: FileRecord, part: number): Promise<void> =>
  bucket.delete(toPartKey(file, part));

/** All parts in order, with a few read ahead. */
export async function* readParts(bucket: R2Bucket, file: FileRecord): AsyncGenerator<Uint8Array, void, void> {
  const count = partCount(file.announced_size);
  const ahead: Promise<Uint8Array>[] = [];
  let next = 0;
  for (let part = 0; part < count; part++) {
    while (next < count && next < part + partsAhead) {
      const reading = readPart(bucket, file, next++);
      reading.catch(() => undefined); // reported when the part is awaited
      ahead.push(reading);
    }
    const bytes = await ahead.shift();
    if (bytes) yield bytes;
  }
}

/** Reads the whole file into memory. */
export const readWholeFile = async (bucket: R2Bucket, file: FileRecord): Promise<Uint8Array> => {
  const whole = new Uint8Array(file.announced_size);
  let at = 0;
  for await (const bytes of readParts(bucket, file)) {
    whole.set(bytes, at);
    at += bytes.length;
  }
  return whole;
};
