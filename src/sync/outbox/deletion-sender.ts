import { askByHttp } from "#sync/connection/http-transport.ts";
import { takeIn } from "#sync/inbound/take-in.ts";
import { Retry } from "#sync/platform/retry.ts";
import { asSyncError, isWorthRetry, SyncError } from "#sync/platform/sync-error.ts";
import type { Context } from "#sync/store/context.ts";
import type { MessageRow } from "#sync/store/database.ts";
import { forgetWithdrawn, listWithdrawn, type Withdrawn } from "#sync/store/pending-deletion-rows.ts";
import { noteHead, ownMessage, toMessageRow } from "#sync/store/row-mapping.ts";

/** A server that has not learned of withdrawals yet may by tomorrow. */
const isUnknown = (code: string): boolean => code === "not_found" || code === "method_not_allowed";

/** Tells the server what its author deleted when it could not be told, again and again until the server has heard it. */
export const makeWithdrawer = (context: Context): Retry => new Retry(context.platform, () => tellAll(context));

/** One that cannot be told now keeps none of the others waiting. */
async function tellAll(context: Context): Promise<"done" | "retry"> {
  const { strict } = context;
  let isDone = true;
  for (const withdrawn of await listWithdrawn(strict)) {
    const isTold = await tell(context, withdrawn).catch(() => false);
    if (isTold) await forgetWithdrawn(strict, withdrawn.cid);
    isDone &&= isTold;
  }
  return isDone ? "done" : "retry";
}

/** Whether there is nothing left to tell: what the server refuses for good is not this person's to delete any more. */
async function tell(context: Context, { conversation, cid }: Withdrawn): Promise<boolean> {
  const { store, platform, me } = context;
  try {
    const { revision, place } = await askByHttp(platform, { type: "withdraw", conversation, cid });
    const row = place && (await store.conversations.get(conversation));
    if (!row) return true;
    const message = ownMessage(row, me, { cid, ...place, body: { type: "deleted" } });
    await takeIn(context, [{ type: "changed", of: conversation, since: revision - 1, revision, messages: [message] }]);
    return true;
  } catch (error) {
    const failure = asSyncError(error);
    if (isWorthRetry(failure) || isUnknown(failure.code)) return false;
  }
  await restore(context, { conversation, cid });
  return true;
}

/** What stands there still is shown again as the server has it. */
async function restore({ store, strict, platform, me }: Context, { conversation, cid }: Withdrawn): Promise<void> {
  const isIt = ({ cid: one, body }: MessageRow) => one === cid && body.type === "deleted";
  const emptied = await store.range(conversation, 0).filter(isIt).first();
  if (!emptied) return;
  const { seq } = emptied;
  const before = await store.conversations.get(conversation);
  const asked = { type: "page", conversation, direction: "after", seq: seq - 1, limit: 1 } as const;
  const page = await askByHttp(platform, asked).catch((error: unknown) => {
    if (isWorthRetry(asSyncError(error))) throw error;
    return undefined; // the conversation is not this person's any more, and goes from here
  });
  const message = page?.messages.find((one) => one.seq === seq);
  if (!page || !message) return;
  await strict.transaction("rw", [strict.messages, strict.conversations, strict.meta], async () => {
    await forgetWithdrawn(strict, cid);
    const row = await strict.conversations.get(conversation);
    const held = await strict.messages.get([conversation, seq]);
    if (!row || !held || !isIt(held) || row.epoch !== page.epoch) return;
    if (row.revision !== before?.revision) throw new SyncError("unavailable"); // the page may be older than what was told
    await strict.messages.put(toMessageRow(row, me, message));
    if (row.head !== seq) return;
    noteHead(row, message);
    await strict.conversations.put(row);
  });
}
