import type { ErrorCode } from "#contract/errors.ts";
import type { Uuid } from "#contract/ids.ts";
import { type Context, withRoom } from "#sync/store/context.ts";
import type { OutboxRow } from "#sync/store/database.ts";
import { strikeSent } from "#sync/store/journal.ts";
import { isQuotaError } from "#sync/store/storage-quota.ts";
import { removeUnsent } from "#sync/store/unsent-rows.ts";

/** What becomes of a message that waits to be sent and was not taken. False on a phone without any room. */
export const noteFate = async (context: Context, cid: Uuid, change: Partial<OutboxRow>): Promise<boolean> => {
  try {
    await withRoom(context, () => context.strict.outbox.update(cid, change));
    return true;
  } catch (error) {
    if (!isQuotaError(error)) throw error;
    return false;
  }
};

/** From here on only its author can have it sent again. */
export const giveUp = (context: Context, cid: Uuid, error: ErrorCode): Promise<boolean> =>
  noteFate(context, cid, { state: "failed", error });

/** Its author has deleted it: a copy of it was left here. */
export const dropWithdrawn = async (context: Context, row: OutboxRow): Promise<void> => {
  const { strict } = context;
  await strict.transaction("rw", [...strict.sending, strict.recordings], () => removeUnsent(strict, row));
  strikeSent(context, row.cid);
};

/** The server keeps a file that no message names for a while only: one that waited longer is brought again, if it is here. */
export const bringAgain = async (context: Context, file: Uuid): Promise<boolean> => {
  const rows = await import("#sync/store/upload-rows.ts").catch(() => undefined);
  return (await rows?.bringAgain(context, file)) ?? false;
};
