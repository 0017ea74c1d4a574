import type { ConversationId } from "#contract/ids.ts";
import { createDraft, type DraftRow, isEmptyDraft } from "./draft-row.ts";
import type { ChangeOptions, UnsentStore } from "./unsent-store.ts";

/** Draft of a conversation as this page knows it; an empty one if there is none. */
export const findDraft = (unsent: UnsentStore, conversation: ConversationId): DraftRow =>
  unsent.find("drafts", conversation) ?? createDraft(conversation);

/** Changes the draft of a conversation with a function of `draft-row.ts`. Resolves and rejects as `UnsentStore.change`. */
export const changeDraft = (
  unsent: UnsentStore,
  conversation: ConversationId,
  change: (draft: DraftRow) => DraftRow,
  options?: ChangeOptions,
): Promise<void> =>
  unsent.change(
    "drafts",
    conversation,
    (row) => {
      const draft = row ?? createDraft(conversation);
      const next = change(draft);
      if (isEmptyDraft(next)) return undefined;
      // Each version has a time of its own, also after the clock was set back.
      return next === draft || next.at > draft.at ? next : { ...next, at: draft.at + 1 };
    },
    options,
  );
