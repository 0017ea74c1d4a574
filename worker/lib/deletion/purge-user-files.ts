import { and, eq, ne } from "drizzle-orm";
import type { Uuid } from "#contract/ids.ts";
import { type Db, openDb } from "#worker/db/client.ts";
import { files } from "#worker/db/file-schema.ts";
import { type FileRecord, isUnreferenced, purgeFile } from "#worker/db/files.ts";
import { logError } from "#worker/lib/log.ts";
import { anonymizeKey } from "#worker/lib/storage/anonymize-key.ts";

/** Files of a deleted account: unreferenced files are purged, the others anonymized, in the directory and in R2. */

const filesPerBatch = 20;
const batchesMax = 10; // in one run; files that others keep are copied with all their bytes

/** Copies a file to an anonymous key, always the same one, and deletes the old object last. */
const anonymizeFile = async (env: Env, db: Db, { id, key }: FileRecord): Promise<void> => {
  if (key === null) throw new Error("a referenced file has no bytes");
  const anonymous = anonymizeKey(key);
  const object = await env.FILES.get(key);
  if (object) {
    const { httpMetadata, customMetadata } = object;
    await env.FILES.put(anonymous.key, object.body, {
      ...(httpMetadata ? { httpMetadata } : {}),
      ...(customMetadata ? { customMetadata } : {}),
    });
  }
  const updated = await db
    .update(files)
    .set({ owner_id: anonymous.owner, key: anonymous.key })
    .where(and(eq(files.id, id), eq(files.key, key), ne(files.status, "removed")))
    .returning({ id: files.id });
  // The last reference was released meanwhile, and the old object deleted with it.
  if (updated.length === 0) await env.FILES.delete(anonymous.key);
};

const purgeOrAnonymizeFile = async (env: Env, db: Db, file: FileRecord): Promise<void> => {
  const [row = file.status === "removed" ? file : undefined] = await db
    .update(files)
    .set({ status: "removed" })
    .where(and(eq(files.id, file.id), ne(files.status, "removed"), isUnreferenced))
    .returning();
  if (row) await purgeFile(env, row);
  else await anonymizeFile(env, db, file);
};

/** Deletes objects under the person's prefix, which no row references any more. */
const deleteRemainingBytes = async (bucket: R2Bucket, user: Uuid): Promise<boolean> => {
  const { objects, truncated } = await bucket.list({ prefix: `${user}_` });
  if (objects.length > 0) await bucket.delete(objects.map(({ key }) => key));
  return !truncated;
};

/** Purges or anonymizes as many of a person's files as one run can; returns true when none is left. */
export const purgeUserFiles = async (env: Env, user: Uuid): Promise<boolean> => {
  const db = openDb(env);
  for (let batch = 0; batch < batchesMax; batch++) {
    const rows = await db.select().from(files).where(eq(files.owner_id, user)).limit(filesPerBatch);
    let failures = 0;
    for (const row of rows) {
      await purgeOrAnonymizeFile(env, db, row).catch((error: unknown) => {
        logError("a file of a deleted account could not be purged and is retried", error);
        failures += 1;
      });
    }
    if (failures > 0) return false;
    if (rows.length < filesPerBatch) return deleteRemainingBytes(env.FILES, user);
  }
  return false;
};
