import * as v from "valibot";
import { type ConversationId, Uuid } from "#contract/ids.ts";
import { audiences } from "#contract/settings/settings.ts";
import { StoredBytes } from "#sync/store/stored-bytes.ts";

// Rows and keys of drafts and recordings: what was composed on this device and not sent.

/** Voice message being recorded, or interrupted when its page ended. `conversation` is its slot key. */
export const RecordingRow = v.object({
  conversation: v.string(),
  startedAt: v.number(),
  mime: v.string(),
  ms: v.number(),
  levels: v.array(v.number()),
});
export type RecordingRow = v.InferOutput<typeof RecordingRow>;
export const RecordingChunkRow = v.object({ conversation: v.string(), n: v.number(), chunk: StoredBytes });
export type RecordingChunkRow = v.InferOutput<typeof RecordingChunkRow>;

/** Target of a draft: a conversation or one of the forms. */
export type DraftTarget = ConversationId | "broadcast" | "group" | "tala";

/** Stored draft with attachments; their bytes are in `blobs`. */
export const AttachmentDraftRow = v.object({
  files: v.array(v.object({ id: Uuid, name: v.string(), type: v.string(), modified: v.number(), caption: v.string() })),
  isOriginal: v.boolean(),
  text: v.string(),
  to: v.array(Uuid),
  id: v.optional(Uuid),
  audience: v.optional(v.picklist(audiences)),
});
export type AttachmentDraftRow = v.InferOutput<typeof AttachmentDraftRow>;

/** Start of the `meta` keys of drafts with attachments. */
export const draftSlotPrefix = "choice:";
const draftSlotCount = 4; // pages of one person that can edit a draft of the same target at once
const toSlotKeys = (first: string): string[] =>
  Array.from({ length: draftSlotCount }, (_, slot) => (slot === 0 ? first : `${first}#${slot}`));
/** Keys of the draft slots of a target; each page owns one slot. */
export const toDraftSlotKeys = (target: DraftTarget): string[] => toSlotKeys(draftSlotPrefix + target);
/** Keys of the recordings of a conversation, in `recordings` and `chunks`. */
export const toRecordingKeys = (conversation: ConversationId): string[] => toSlotKeys(conversation);
/** Target of a draft or recording. */
export const toDraftTarget = (key: string): string => key.slice(key.indexOf(":") + 1).split("#")[0] ?? "";
/** Draft slot owned by one page. */
export type DraftSlot = { target: DraftTarget; key: string };
/** Draft that is about to be sent, with the ids of its files whose bytes are stored. */
export type SavedDraft = DraftSlot & { savedFiles: ReadonlyMap<Blob, Uuid> };

/** Whether a `meta` key belongs to a draft with attachments. */
export const isDraftKey = (key: string): boolean => key.startsWith(draftSlotPrefix);

/** Ids of the files referenced by draft rows. */
export const listDraftFiles = (rows: readonly { key: string; value: unknown }[]): Uuid[] =>
  rows.flatMap(({ key, value }) =>
    (key.startsWith(draftSlotPrefix) ? (value as AttachmentDraftRow).files : []).map(({ id }) => id),
  );
