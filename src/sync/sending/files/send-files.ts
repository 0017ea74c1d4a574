import { cleanFileName } from "#contract/files.ts";
import { type ConversationId, createUuid, type Uuid } from "#contract/ids.ts";
import { fileMaxBytes } from "#contract/limits/files.ts";
import { type Body, findAttachment } from "#contract/messages/body.ts";
import { cleanText, isBlank } from "#contract/text.ts";
import { SyncError } from "#sync/platform/sync-error.ts";
import { insertUnsentMessages, parseMessageBody, type UnsentMessage } from "#sync/sending/enqueue.ts";
import { toMulticastMessages } from "#sync/sending/multicast.ts";
import { reportUnsentFailure, type SyncContext } from "#sync/store/sync-context.ts";
import { requireContext, type SyncPort } from "#sync/store/sync-port.ts";
import type { OutgoingFile } from "#sync/store/view-models.ts";
import { putAttachmentDraft } from "#sync/unsent/attachment-drafts.ts";
import type { SavedDraft } from "#sync/unsent/attachment-rows.ts";
import type { ReplyTarget } from "#sync/unsent/draft-row.ts";
import type { UnsentStore } from "#sync/unsent/unsent-store.ts";
import { createUpload, putUpload } from "#sync/unsent/uploads.ts";

/** Stores chosen files and their messages for the uploader and the outbox. */

const isQuotaExceeded = (error: unknown): boolean => error instanceof SyncError && error.code === "no_room";

/** Upload of a chosen file. `isStored`: the draft has stored its bytes under this id. */
type OutgoingUpload = { file: Uuid; blob: Blob; body: Body; isStored: boolean };

/** Validates a chosen file and gives it an id: the draft's if it is sent as it was chosen. Throws a SyncError. */
const toOutgoingUpload = ({ blob, body }: OutgoingFile, now: number, draft: SavedDraft | undefined): OutgoingUpload => {
  if (blob.size > fileMaxBytes) throw new SyncError("file_too_large");
  if (blob.size === 0) throw new SyncError("file_incomplete");
  const saved = draft?.savedFiles.get(blob);
  const file = saved ?? createUuid(now);
  const { text, ...rest } = { text: "", ...body };
  const caption = cleanText(text);
  const captionField = isBlank(caption) ? {} : { text: caption };
  return {
    file,
    blob,
    isStored: saved !== undefined,
    body: parseMessageBody({ ...rest, ...captionField, file, name: cleanFileName(body.name), size: blob.size }),
  };
};

/** Throws if a draft that is being sent does not name the stored bytes any more. */
const checkDraft = (unsent: UnsentStore, draft: SavedDraft, uploads: readonly OutgoingUpload[]): void => {
  const ids = unsent.find("attachments", draft.key)?.files.map(({ id }) => id) ?? [];
  if (uploads.some(({ file, isStored }) => isStored && !ids.includes(file))) throw new SyncError("unavailable");
};

/**
 * Takes those files out of a draft that are sent in another form, if the phone has no room for both. Resolves to false
 * if there are none.
 */
const removeReplacedFiles = async (
  { unsent, platform }: SyncContext,
  draft: SavedDraft,
  uploads: readonly OutgoingUpload[],
): Promise<boolean> => {
  const row = unsent.find("attachments", draft.key);
  const files = row?.files.filter(({ id }) => uploads.some(({ file }) => file === id)) ?? [];
  if (!row || files.length === row.files.length) return false;
  const replaced = row.files.map(({ id }) => id).filter((id) => !files.some((file) => file.id === id));
  await unsent.changeAll([putAttachmentDraft(draft, { ...row, files }, platform.now())]).catch(() => undefined);
  await unsent.bytes.delete(replaced).catch(() => undefined);
  return true;
};

/**
 * Stores the bytes that the draft has not stored, and then, in one transaction, the uploads, the messages and the end of
 * the draft. Rejects with a SyncError and leaves nothing behind if the bytes cannot be stored.
 */
const insertFiles = async (
  context: SyncContext,
  uploads: readonly OutgoingUpload[],
  messages: readonly UnsentMessage[],
  draft: SavedDraft | undefined,
): Promise<void> => {
  const { unsent, platform, store } = context;
  if (draft) checkDraft(unsent, draft, uploads);
  const unstored = uploads.filter(({ isStored }) => !isStored);
  try {
    for (const { file, blob } of unstored) await unsent.bytes.put(file, blob);
  } catch {
    await unsent.bytes.delete(unstored.map(({ file }) => file)).catch(() => undefined);
    throw new SyncError("no_room");
  }
  const at = platform.now();
  const insertions = uploads.map(({ file, blob, body }, n) =>
    putUpload({ ...createUpload(file, findAttachment(body)?.name ?? "", blob, at + store.skew), n }, at),
  );
  const end = draft ? [putAttachmentDraft(draft, undefined, at)] : [];
  await insertUnsentMessages(context, messages, [...insertions, ...end]).catch(
    (error: unknown) => reportUnsentFailure(context, error), // sent from memory
  );
};

/**
 * Queues files for conversations. Resolves once the files and their messages are durable, or sent from memory; rejects
 * with a SyncError if the device has no room for them. The draft they come from ends in the same step. Files that are sent as they were chosen keep
 * the bytes that the draft has stored; others give way if the phone has no room for both. The first file answers
 * `target`.
 */
export const enqueueFiles = async (
  port: SyncPort,
  to: readonly ConversationId[],
  files: readonly OutgoingFile[],
  draft?: SavedDraft,
  target?: ReplyTarget,
): Promise<void> => {
  const context = requireContext(port);
  const uploads = files.map((file) => toOutgoingUpload(file, port.platform.now(), draft));
  const batch = uploads.length > 1 ? { batch: createUuid(port.platform.now()) } : {};
  const messages = uploads.flatMap(({ body }, index) =>
    toMulticastMessages(port, to, {
      body,
      state: "awaiting",
      ...batch,
      ...(index === 0 && target !== undefined ? { target } : {}),
    }),
  );
  try {
    await insertFiles(context, uploads, messages, draft);
  } catch (error) {
    if (!draft || !isQuotaExceeded(error) || !(await removeReplacedFiles(context, draft, uploads))) throw error;
    await insertFiles(context, uploads, messages, draft);
  }
  port.notifyChanged("outbox");
};
