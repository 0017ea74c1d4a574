import { draftHeadKey, type PushedDraft, pushedDraftPrefix } from "#sync/store/draft-announcements.ts";
import type { ApplyTransaction } from "./apply/apply-transaction.ts";
import type { ServerChange } from "./server-changes.ts";

/**
 * Stores the number of the last change of any draft, and what another device wrote if it was pushed. It is applied once
 * the first screen has its messages (`src/sync/drafts/draft-sync.ts`).
 */
export const announceDraft = async (
  transaction: ApplyTransaction,
  head: number,
  pushed?: Extract<ServerChange, { type: "draft" }>,
): Promise<void> => {
  const { meta, conversations } = transaction.store;
  if ((await meta.get(draftHeadKey))?.value === head) return;
  transaction.hasPendingWork = true;
  await meta.put({ key: draftHeadKey, value: head });
  if (!pushed) return;
  const { target, before, change, content } = pushed;
  const row = content && (await conversations.where("handle").equals(target).first());
  if (content && !row) return; // fetched
  const { reply, ...fields } = content ?? {};
  const value = {
    before,
    change,
    ...(row ? { draft: { conversation: row.id, change, ...fields, ...(reply === undefined ? {} : { reply }) } } : {}),
  };
  await meta.put({ key: pushedDraftPrefix + change, value: value as PushedDraft });
};
