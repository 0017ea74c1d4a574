import { cleanFileName } from "#contract/files.ts";
import { type ConversationId, createUuid, type Uuid } from "#contract/ids.ts";
import { fileMaxBytes } from "#contract/limits/files.ts";
import { type Body, findAttachment } from "#contract/messages/body.ts";
import { cleanText, isBlank } from "#contract/text.ts";
import { SyncError } from "#sync/platform/sync-error.ts";
import { insertUnsentMessages, parseMessageBody, type UnsentMessage } from "#sync/sending/enqueue.ts";
import { toMulticastMessages } from "#sync/sending/multicast.ts";
import type { LocalStore } from "#sync/store/database.ts";
import type { SavedDraft } from "#sync/store/pending/draft-keys.ts";
import { readDraftRow } from "#sync/store/pending/draft-rows.ts";
import { isQuotaError } from "#sync/store/storage-quota.ts";
import { toStoredBytes } from "#sync/store/stored-bytes.ts";
import { retryOnQuotaError, type SyncContext } from "#sync/store/sync-context.ts";
import { requireContext, type SyncPort } from "#sync/store/sync-port.ts";
import { toUploadRow } from "#sync/store/upload-rows.ts";
import type { OutgoingFile } from "#sync/store/view-models.ts";
import type { ReplyTarget } from "#sync/unsent/draft-row.ts";
import { deleteMessage } from "#sync/unsent/messages.ts";

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

/** Rejects if a draft that is being sent does not name the stored bytes any more. Requires a transaction over `meta`. */
const checkDraft = async (store: LocalStore, draft: SavedDraft, uploads: readonly OutgoingUpload[]): Promise<void> => {
  const ids = (await readDraftRow(store, draft))?.files.map(({ id }) => id) ?? [];
  if (uploads.some(({ file, isStored }) => isStored && !ids.includes(file))) throw new Error("the draft has changed");
};

/**
 * Deletes the files of a draft that are sent in another form, if the phone has no room for both. Resolves to false if
 * there are none.
 */
const deleteReplacedFiles = (
  store: LocalStore,
  { key, target }: SavedDraft,
  uploads: readonly OutgoingUpload[],
): Promise<boolean> =>
  store.transaction("rw", [store.meta, store.blobs], async () => {
    const row = await readDraftRow(store, { key, target });
    const isReplaced = ({ id }: { id: Uuid }) => !uploads.some(({ file }) => file === id);
    const replaced = row?.files.filter(isReplaced) ?? [];
    if (!row || replaced.length === 0) return false;
    await store.meta.put({ key, value: { ...row, files: row.files.filter((file) => !isReplaced(file)) } });
    await store.blobs.bulkDelete(replaced.map(({ id }) => id));
    return true;
  });

/**
 * Writes the bytes that the draft has not stored, then the uploads, then the messages, and deletes the draft's row. What
 * an end of the page leaves between two steps shows nothing twice and loses nothing: bytes without a message are deleted
 * later. Rejects with a SyncError and leaves nothing behind.
 */
const insertFiles = async (
  context: SyncContext,
  uploads: readonly OutgoingUpload[],
  messages: readonly UnsentMessage[],
  draft: SavedDraft | undefined,
): Promise<void> => {
  const { strict } = context;
  const unstored = uploads.filter(({ isStored }) => !isStored);
  try {
    for (const { file, blob } of unstored) {
      const row = { file, blob: await toStoredBytes(strict, blob) };
      await retryOnQuotaError(context, () => strict.blobs.put(row), false);
    }
    const createdAt = context.platform.now() + context.store.skew;
    const rows = uploads.map(({ file, blob, body }, n) => ({
      ...toUploadRow(file, findAttachment(body)?.name ?? "", blob, createdAt),
      n,
    }));
    if (draft) await strict.transaction("r", strict.meta, () => checkDraft(strict, draft, uploads));
    const write = () => strict.uploads.bulkPut(rows);
    await retryOnQuotaError(context, write, false);
    // Without a database that answers, the messages are in the image until it does.
    await insertUnsentMessages(context, messages).catch((error: unknown) => {
      if (isQuotaError(error)) throw error;
    });
    // Last: if the page ends before, the files stand in the chat and in the draft.
    if (draft) await strict.meta.delete(draft.key);
  } catch (error) {
    const files = unstored.map(({ file }) => file);
    await Promise.all([
      strict.blobs.bulkDelete(files),
      strict.uploads.bulkDelete(uploads.map(({ file }) => file)),
    ]).catch(() => {});
    await context.unsent.changeAll(messages.map(({ cid }) => deleteMessage(cid))).catch(() => undefined);
    throw new SyncError(isQuotaError(error) ? "no_room" : "unavailable");
  }
};

/**
 * Queues files for conversations. Resolves once the files and their messages are durable; rejects with a SyncError if
 * none is stored. The draft they come from is deleted in the same step. Files that are sent as they were chosen keep
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
    if (!draft || !isQuotaExceeded(error) || !(await deleteReplacedFiles(context.store, draft, uploads))) throw error;
    await insertFiles(context, uploads, messages, draft);
  }
  port.notifyChanged("outbox");
};
