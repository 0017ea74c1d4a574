import type { Uuid } from "#contract/ids.ts";
import { releaseFileReference } from "#worker/db/files.ts";
import type { ConversationLog } from "#worker/objects/conversation/log/conversation-log.ts";

/** Releases the file references of deleted messages in the directory. Idempotent. */
export const releaseDeletedFiles = async (env: Pick<Env, "DB" | "FILES">, log: ConversationLog): Promise<void> => {
  const released = log.sql.exec<{ cid: Uuid; file: Uuid }>("SELECT cid, file FROM releases").toArray();
  for (const { cid, file } of released) {
    await releaseFileReference(env, file, log.id, cid);
    log.sql.exec("DELETE FROM releases WHERE cid = ? AND file = ?", cid, file);
  }
};
