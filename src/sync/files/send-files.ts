import { type Body, findAttachment } from "#contract/conversations.ts";
import { cleanFileName } from "#contract/files.ts";
import { type ConversationId, createUuid, type Uuid } from "#contract/ids.ts";
import { fileMaxBytes } from "#contract/limits.ts";
import { cleanText, isBlank } from "#contract/text.ts";
import { deleteDraft } from "#sync/drafts/draft-rows.ts";
import { getContext, insertUnsentMessages, parseMessageBody, type UnsentMessage } from "#sync/outbox/enqueue.ts";
import { toMulticastMessages } from "#sync/outbox/multicast.ts";
import { SyncError } from "#sync/platform/sync-error.ts";
import type { DraftSlot } from "#sync/store/database.ts";
import { isQuotaError } from "#sync/store/storage-quota.ts";
import { retryOnQuotaError, type SyncContext } from "#sync/store/sync-context.ts";
import { toUploadRow } from "#sync/store/upload-rows.ts";
import type { OutgoingFile } from "#sync/store/view-models.ts";
import type { Tab } from "#sync/tabs/tab.ts";

/** Stores chosen files and their messages for the uploader and the outbox. */

const isQuotaExceeded = (error: unknown): boolean => error instanceof SyncError && error.code === "no_room";

type OutgoingUpload = { file: Uuid; blob: Blob; body: Body };

/** Validates a chosen file and gives it an id. Throws a SyncError. */
const toOutgoingUpload = ({ blob, body }: OutgoingFile, now: number): OutgoingUpload => {
  if (blob.size > fileMaxBytes) throw new SyncError("file_too_large");
  if (blob.size === 0) throw new SyncError("file_incomplete");
  const file = createUuid(now);
  const { text, ...rest } = { text: "", ...body };
  const caption = cleanText(text);
  const captionField = isBlank(caption) ? {} : { text: caption };
  return {
    file,
    blob,
    body: parseMessageBody({ ...rest, ...captionField, file, name: cleanFileName(body.name), size: blob.size }),
  };
};

/**
 * Writes the bytes, then uploads and messages, and deletes the draft's row. The bytes have a transaction of their own: a
 * large file takes a while to write, and texts must not wait for it. Rejects with a SyncError and leaves nothing behind.
 */
const insertFiles = async (
  context: SyncContext,
  uploads: readonly OutgoingUpload[],
  messages: readonly UnsentMessage[],
  draft: DraftSlot | undefined,
): Promise<void> => {
  const { strict } = context;
  const files = uploads.map(({ file }) => file);
  try {
    for (const { file, blob } of uploads)
      await retryOnQuotaError(context, () => strict.blobs.put({ file, blob }), false);
    const toRows = (createdAt: number) =>
      uploads.map(({ file, blob, body }, n) => ({
        ...toUploadRow(file, findAttachment(body)?.name ?? "", blob, createdAt),
        n,
      }));
    const write = async (createdAt: number) => {
      await strict.uploads.bulkPut(toRows(createdAt));
      if (draft) await strict.meta.delete(draft.key);
    };
    await retryOnQuotaError(context, () => insertUnsentMessages(context, messages, write), false);
  } catch (error) {
    await strict.blobs.bulkDelete(files).catch(() => {});
    throw new SyncError(isQuotaError(error) ? "no_room" : "unavailable");
  }
};

/**
 * Queues files for conversations. Resolves once the files and their messages are durable; rejects with a SyncError if
 * none is stored. The draft they come from is deleted with it, or before it if the phone has no room for both.
 */
export const enqueueFiles = async (
  tab: Tab,
  to: readonly ConversationId[],
  files: readonly OutgoingFile[],
  draft?: DraftSlot,
): Promise<void> => {
  const context = getContext(tab);
  const uploads = files.map((file) => toOutgoingUpload(file, tab.platform.now()));
  const batch = uploads.length > 1 ? { batch: createUuid(tab.platform.now()) } : {};
  const messages = uploads.flatMap(({ body }) => toMulticastMessages(tab, to, { body, state: "awaiting", ...batch }));
  try {
    await insertFiles(context, uploads, messages, draft);
  } catch (error) {
    if (!draft || !isQuotaExceeded(error) || !(await deleteDraft(context.store, draft))) throw error;
    await insertFiles(context, uploads, messages, draft);
  }
  tab.notifyOutboxChanged();
};
