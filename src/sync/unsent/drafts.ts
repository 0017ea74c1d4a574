import type { ConversationId } from "#contract/ids.ts";
import { createDraft, type DraftRow, isEmptyDraft } from "./draft-row.ts";
import type { UnsentRows } from "./unsent-state.ts";
import type { ChangeOptions, UnsentStore } from "./unsent-store.ts";

/** Draft of a conversation as this page knows it; an empty one if there is none. */
export const findDraft = (unsent: UnsentStore, conversation: ConversationId): DraftRow =>
  unsent.find("drafts", conversation) ?? createDraft(conversation);

/** Change of the draft of a conversation by a function of `draft-row.ts`. */
export const toDraftChange = (conversation: ConversationId, change: (draft: DraftRow) => DraftRow) => ({
  table: "drafts" as const,
  key: conversation,
  change: (row: UnsentRows["drafts"] | undefined) => {
    const draft = row ?? createDraft(conversation);
    const next = change(draft);
    if (isEmptyDraft(next)) return undefined;
    // Each version has a time of its own, also after the clock was set back.
    return next === draft || next.at > draft.at ? next : { ...next, at: draft.at + 1 };
  },
});

/** Changes the draft of a conversation. Resolves and rejects as `UnsentStore.change`. */
export const changeDraft = (
  unsent: UnsentStore,
  conversation: ConversationId,
  change: (draft: DraftRow) => DraftRow,
  options?: ChangeOptions,
): Promise<void> => {
  const { table, key, change: changeRow } = toDraftChange(conversation, change);
  return unsent.change(table, key, changeRow, options);
};
