import type { ConversationId } from "#contract/ids.ts";
import { useLiveQuery } from "#sync/hooks/use-live-query.ts";
import { readStarredSeqs } from "#sync/store/pending/pending-message-flags.ts";

/** Whether a message is starred; undefined until the store was read. */
export const useIsStarred = (conversation: ConversationId, seq: number | undefined): boolean | undefined =>
  useLiveQuery(
    seq === undefined ? undefined : `star ${conversation} ${seq}`,
    async ({ store }) => (await readStarredSeqs(store, conversation)).has(seq ?? 0),
    false,
  );
