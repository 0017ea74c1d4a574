import type { SyncedDraft } from "#contract/settings/drafts.ts";

// Rows of `meta`: what the server announced of drafts and this device has not applied (docs/decisions/draft-sync.md).

/** Number of the last change of any draft that the server announced. */
export const draftHeadKey = "draft-head";
/** Number of the last change of any draft that this device has applied. */
export const draftCursorKey = "draft-cursor";
export const pushedDraftPrefix = "draft-push:";

/** Draft announced by another device's change; without content if this device wrote it. `before`: the head before. */
export type PushedDraft = { before: number; change: number; draft?: SyncedDraft };
