import type { ConversationId, Uuid } from "#contract/ids.ts";
import { findAttachment } from "#contract/messages/body.ts";
import { compareOrder, findUploadFile, type OutboxRow } from "./outbox-row.ts";
import { toRemoval, toTimedChange, type UnsentChange, type UnsentState } from "./unsent-state.ts";
import { cancelUpload } from "./uploads.ts";

/** Messages that the server has not acknowledged, as the image in memory (`unsent-store.ts`) has them. */

type Image = { list(): UnsentState };

/** All unsent messages in sending order. */
export const listOutbox = (unsent: Image): OutboxRow[] => [...unsent.list().outbox.values()].sort(compareOrder);

/** Unsent messages of a conversation in sending order. */
export const listUnsent = (unsent: Image, conversation: ConversationId): OutboxRow[] =>
  listOutbox(unsent).filter((row) => row.conversation === conversation);

/** Unsent messages that reference a file. */
export const listUnsentByFile = (unsent: Image, file: Uuid): OutboxRow[] =>
  listOutbox(unsent).filter(({ body }) => findAttachment(body)?.file === file);

/** Files that unsent messages reference. */
export const listUnsentFiles = (unsent: Image): Set<Uuid> =>
  new Set(listOutbox(unsent).flatMap(({ body }) => findAttachment(body)?.file ?? []));

/** Order of a message that is sent after all others. */
export const nextOrder = (unsent: Image): number =>
  [...unsent.list().outbox.values()].reduce((last, { order }) => Math.max(last, order), 0) + 1;

/** Change of an unsent message, at a device time. Nothing happens if it has been deleted meanwhile. */
export const changeMessage = (cid: Uuid, at: number, change: (row: OutboxRow) => OutboxRow | undefined): UnsentChange =>
  toTimedChange("outbox", cid, at, (row) => row && change(row));

/**
 * Changes that discard a message which nobody wants any more. They cancel the upload of its file, unless another message
 * references it.
 */
export const discardMessage = (unsent: Image, message: OutboxRow, at: number): UnsentChange[] => {
  const file = findUploadFile(message);
  const isNeeded = file !== undefined && listUnsentByFile(unsent, file).some(({ cid }) => cid !== message.cid);
  return [deleteMessage(message.cid), ...(file === undefined || isNeeded ? [] : [cancelUpload(file, at)])];
};

/** Deletion of an unsent message, because the server has it. */
export const deleteMessage = (cid: Uuid): UnsentChange => toRemoval("outbox", cid);
