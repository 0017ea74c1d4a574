import * as v from "valibot";
import { Body, ForwardSource } from "#contract/conversations.ts";
import { errorCodes } from "#contract/errors.ts";
import { ConversationId, Uuid } from "#contract/ids.ts";
import { isDraftKey } from "#sync/store/database.ts";
import { isPendingDeletionKey } from "#sync/store/pending-deletions.ts";

/** Schemas of the rows read from a database that this version cannot use. Rows that do not match are dropped. */

export const SalvagedMessage = v.object({
  cid: Uuid,
  conversation: ConversationId,
  order: v.number(),
  body: Body,
  createdAt: v.number(),
  state: v.picklist(["queued", "awaiting", "failed"]),
  error: v.optional(v.picklist(errorCodes)),
  attempts: v.number(),
  source: v.optional(ForwardSource),
  spread: v.optional(Uuid),
});
export const SalvagedUpload = v.object({
  file: Uuid,
  name: v.string(),
  size: v.number(),
  state: v.picklist(["waiting", "uploading", "paused", "failed"]),
  sent: v.number(),
  announced: v.optional(v.literal(true)),
  createdAt: v.number(),
});
export const SalvagedBlob = v.object({ file: Uuid, blob: v.blob() });

const SalvagedDraftFile = v.object({
  id: Uuid,
  name: v.string(),
  type: v.string(),
  modified: v.number(),
  caption: v.string(),
});
const SalvagedDraftContent = v.object({
  files: v.array(SalvagedDraftFile),
  isOriginal: v.boolean(),
  text: v.string(),
  to: v.array(Uuid),
  id: v.optional(Uuid),
});
const SalvagedDraft = v.object({
  key: v.pipe(v.string(), v.check(isDraftKey)),
  value: v.union([v.string(), SalvagedDraftContent]),
});
const SalvagedPendingDeletion = v.object({
  key: v.pipe(v.string(), v.check(isPendingDeletionKey)),
  value: v.object({ cid: Uuid, conversation: ConversationId }),
});
export const SalvagedRecording = v.object({
  conversation: ConversationId,
  startedAt: v.number(),
  mime: v.string(),
  ms: v.number(),
  levels: v.array(v.number()),
});
export const SalvagedChunk = v.object({ conversation: ConversationId, n: v.number(), chunk: v.blob() });

export const SalvagedPost = v.object({
  id: Uuid,
  content: v.string(),
  picture: v.nullable(v.object({ width: v.number(), height: v.number(), thumb: v.string() })),
  createdAt: v.number(),
  state: v.picklist(["queued", "failed", "cancelled"]),
  error: v.optional(v.picklist(errorCodes)),
  attempts: v.number(),
});
/** Entries of `meta` that exist on this device only: drafts and pending deletions. */
export const SalvagedMeta = v.union([SalvagedDraft, SalvagedPendingDeletion]);
