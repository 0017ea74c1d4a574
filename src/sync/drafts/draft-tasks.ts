import type { ConversationId } from "#contract/ids.ts";
import { draftCursorKey, draftHeadKey } from "#sync/store/draft-announcements.ts";
import type { SyncContext } from "#sync/store/sync-context.ts";
import { isTyping } from "#sync/unsent/draft-row.ts";

/** Work on drafts: to fetch what other devices wrote, or to send one that was changed at the time `at`. */
export type DraftTask = "fetch" | { conversation: ConversationId; at: number };

/** Pending tasks, drafts of other devices first. A draft that is being typed in waits. */
export const listDraftTasks = async ({ store, unsent, platform }: SyncContext): Promise<DraftTask[]> => {
  const [head, cursor] = await store.meta.bulkGet([draftHeadKey, draftCursorKey]);
  const now = platform.now();
  return [
    ...(head?.value === cursor?.value ? [] : (["fetch"] as const)),
    ...[...unsent.list().drafts.values()].flatMap((draft) =>
      draft.unshared && !isTyping(draft, now) ? { conversation: draft.conversation, at: draft.unshared.at } : [],
    ),
  ];
};
