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

/** Files on their way out, from where a person chose them to where the uploader finds them. */

const isQuotaExceeded = (error: unknown): boolean => error instanceof SyncError && error.code === "no_room";

type OutgoingUpload = { file: Uuid; blob: Blob; body: Body };

const toOutgoingUpload = ({ blob, body }: OutgoingFile, now: number): OutgoingUpload => {
  if (blob.size > fileMaxBytes) throw new SyncError("file_too_large");
  if (blob.size === 0) throw new SyncError("file_incomplete");
  const file = createUuid(now);
  const { text, ...rest } = { text: "", ...body };
  const caption = cleanText(text);
  const words = isBlank(caption) ? {} : { text: caption };
  return {
    file,
    blob,
    body: parseMessageBody({ ...rest, ...words, file, name: cleanFileName(body.name), size: blob.size }),
  };
};

/** The bytes first, by themselves: a big file takes a while to write, and texts must not wait for it. */
const insertFiles = async (
  context: SyncContext,
  attached: readonly OutgoingUpload[],
  messages: readonly UnsentMessage[],
  kept: DraftSlot | undefined,
): Promise<void> => {
  const { strict } = context;
  const files = attached.map(({ file }) => file);
  try {
    for (const { file, blob } of attached)
      await retryOnQuotaError(context, () => strict.blobs.put({ file, blob }), false);
    const uploads = (createdAt: number) =>
      attached.map(({ file, blob, body }, n) => ({
        ...toUploadRow(file, findAttachment(body)?.name ?? "", blob, createdAt),
        n,
      }));
    const write = async (createdAt: number) => {
      await strict.uploads.bulkPut(uploads(createdAt));
      if (kept) await strict.meta.delete(kept.key);
    };
    await retryOnQuotaError(context, () => insertUnsentMessages(context, messages, write), false);
  } catch (error) {
    await strict.blobs.bulkDelete(files).catch(() => {});
    throw new SyncError(isQuotaError(error) ? "no_room" : "unavailable");
  }
};

/**
 * Resolves once the files and their messages are durably here; rejects when they are nowhere. What was kept of the
 * choice is forgotten with it, and gives its room where there is no other.
 */
export const enqueueFiles = async (
  tab: Tab,
  to: readonly ConversationId[],
  files: readonly OutgoingFile[],
  kept?: DraftSlot,
): Promise<void> => {
  const context = getContext(tab);
  const attached = files.map((file) => toOutgoingUpload(file, tab.platform.now()));
  const together = attached.length > 1 ? { batch: createUuid(tab.platform.now()) } : {};
  const messages = attached.flatMap(({ body }) =>
    toMulticastMessages(tab, to, { body, state: "awaiting", ...together }),
  );
  try {
    await insertFiles(context, attached, messages, kept);
  } catch (error) {
    if (!kept || !isQuotaExceeded(error) || !(await deleteDraft(context.store, kept))) throw error;
    await insertFiles(context, attached, messages, kept);
  }
  tab.notifyOutboxChanged();
};
