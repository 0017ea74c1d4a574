import { attachmentOf, type Body } from "#contract/conversations.ts";
import { cleanFileName } from "#contract/files.ts";
import { type ConversationId, createUuid, type Uuid } from "#contract/ids.ts";
import { fileMaxBytes } from "#contract/limits.ts";
import { cleanText, isBlank } from "#contract/text.ts";
import { dropChoice } from "#sync/drafts/draft-rows.ts";
import { getContext, insertUnsent, parseBody, type Unsent } from "#sync/outbox/enqueue.ts";
import { toMany } from "#sync/outbox/multicast.ts";
import { SyncError } from "#sync/platform/sync-error.ts";
import { type Context, withRoom } from "#sync/store/context.ts";
import type { KeptChoice } from "#sync/store/database.ts";
import { isQuotaError } from "#sync/store/storage-quota.ts";
import { uploadOf } from "#sync/store/upload-rows.ts";
import type { OutgoingFile } from "#sync/store/views.ts";
import type { Tab } from "#sync/tabs/tab.ts";

/** Files on their way out, from where a person chose them to where the uploader finds them. */

const isNoRoom = (error: unknown): boolean => error instanceof SyncError && error.code === "no_room";

type Attached = { file: Uuid; blob: Blob; body: Body };

const attach = ({ blob, body }: OutgoingFile, now: number): Attached => {
  if (blob.size > fileMaxBytes) throw new SyncError("file_too_large");
  if (blob.size === 0) throw new SyncError("file_incomplete");
  const file = createUuid(now);
  const { text, ...rest } = { text: "", ...body };
  const caption = cleanText(text);
  const words = isBlank(caption) ? {} : { text: caption };
  return { file, blob, body: parseBody({ ...rest, ...words, file, name: cleanFileName(body.name), size: blob.size }) };
};

/** The bytes first, by themselves: a big file takes a while to write, and texts must not wait for it. */
const insert = async (
  context: Context,
  attached: readonly Attached[],
  messages: readonly Unsent[],
  kept: KeptChoice | undefined,
): Promise<void> => {
  const { strict } = context;
  const files = attached.map(({ file }) => file);
  try {
    for (const { file, blob } of attached) await withRoom(context, () => strict.blobs.put({ file, blob }), false);
    const uploads = (createdAt: number) =>
      attached.map(({ file, blob, body }, n) => ({
        ...uploadOf(file, attachmentOf(body)?.name ?? "", blob, createdAt),
        n,
      }));
    const write = async (createdAt: number) => {
      await strict.uploads.bulkPut(uploads(createdAt));
      if (kept) await strict.meta.delete(kept.key);
    };
    await withRoom(context, () => insertUnsent(context, messages, write), false);
  } catch (error) {
    await strict.blobs.bulkDelete(files).catch(() => {});
    throw new SyncError(isQuotaError(error) ? "no_room" : "unavailable");
  }
};

/**
 * Resolves once the files and their messages are durably here; rejects when they are nowhere. What was kept of the
 * choice is forgotten with it, and gives its room where there is no other.
 */
export const sendFiles = async (
  tab: Tab,
  to: readonly ConversationId[],
  files: readonly OutgoingFile[],
  kept?: KeptChoice,
): Promise<void> => {
  const context = getContext(tab);
  const attached = files.map((file) => attach(file, tab.platform.now()));
  const together = attached.length > 1 ? { batch: createUuid(tab.platform.now()) } : {};
  const messages = attached.flatMap(({ body }) => toMany(tab, to, { body, state: "awaiting", ...together }));
  try {
    await insert(context, attached, messages, kept);
  } catch (error) {
    if (!kept || !isNoRoom(error) || !(await dropChoice(context.store, kept))) throw error;
    await insert(context, attached, messages, kept);
  }
  tab.written();
};
