import * as v from "valibot";
import { type ConversationId, Uuid } from "#contract/ids.ts";
import { audiences } from "#contract/settings/settings.ts";

// Rows of the unsent database that name bytes (`unsent-bytes.ts`), apart from the queue of statuses.

/** File being uploaded. The id of its bytes is that of the file. */
export const UploadRow = v.looseObject({
  file: Uuid,
  name: v.string(),
  size: v.number(),
  /** "cancelled": no longer needed; the server has yet to be told. */
  state: v.picklist(["waiting", "uploading", "paused", "failed", "cancelled"]),
  /** The server may know the file. */
  announced: v.optional(v.literal(true)),
  /** Position among the files chosen together. */
  n: v.optional(v.number()),
  createdAt: v.number(),
  /** Device time of the last change of the row. */
  at: v.number(),
});
export type UploadRow = v.InferOutput<typeof UploadRow>;

/** Voice message being recorded, or interrupted when its page ended. `chunks` are ids of bytes. */
export const RecordingRow = v.looseObject({
  key: v.string(),
  startedAt: v.number(),
  mime: v.string(),
  ms: v.number(),
  levels: v.array(v.number()),
  chunks: v.array(Uuid),
  at: v.number(),
});
export type RecordingRow = v.InferOutput<typeof RecordingRow>;

/** Target of a draft: a conversation or one of the forms. */
export type DraftTarget = ConversationId | "broadcast" | "group" | "tala";

/** Draft with attachments. The ids of its files are those of their bytes. */
export const AttachmentDraftRow = v.looseObject({
  key: v.string(),
  files: v.array(v.object({ id: Uuid, name: v.string(), type: v.string(), modified: v.number(), caption: v.string() })),
  isOriginal: v.boolean(),
  text: v.string(),
  to: v.array(Uuid),
  id: v.optional(Uuid),
  audience: v.optional(v.picklist(audiences)),
  at: v.number(),
});
export type AttachmentDraftRow = v.InferOutput<typeof AttachmentDraftRow>;

/** Key of a draft with attachments or a recording of a target. `name` makes it different from all others. */
export const toDraftKey = (target: DraftTarget, name: string | number): string => `${target} ${name}`;
/** Target of a draft with attachments or a recording. */
export const toDraftTarget = (key: string): string => key.split(" ")[0] ?? "";
/** Draft with attachments, which one page owns. */
export type OwnedDraft = { target: DraftTarget; key: string };
/** Draft that is about to be sent, with the ids of its files whose bytes are stored. */
export type SavedDraft = OwnedDraft & { savedFiles: ReadonlyMap<Blob, Uuid> };
