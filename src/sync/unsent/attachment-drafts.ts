import { type AttachmentDraftRow, type DraftTarget, type OwnedDraft, toDraftTarget } from "./attachment-rows.ts";
import { toRemoval, toTimedChange, type UnsentChange, type UnsentState, type Untimed } from "./unsent-state.ts";

/** Drafts with attachments, as the image in memory (`unsent-store.ts`) has them. */

/** Drafts of a target, the first one written first: one for each page that had one. */
export const listAttachmentDrafts = (
  { attachments }: Pick<UnsentState, "attachments">,
  target: DraftTarget,
): AttachmentDraftRow[] =>
  [...attachments.values()].filter(({ key }) => toDraftTarget(key) === target).sort((a, b) => (a.key < b.key ? -1 : 1));

/** Sets a draft, at a device time; undefined deletes it. */
export const putAttachmentDraft = (
  { key }: Pick<OwnedDraft, "key">,
  draft: Omit<Untimed<AttachmentDraftRow>, "key"> | undefined,
  at: number,
): UnsentChange =>
  draft ? toTimedChange("attachments", key, at, () => ({ ...draft, key })) : toRemoval("attachments", key);
