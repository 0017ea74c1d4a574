import { attachmentOf, type Body } from "../../contract/conversations";
import { cleanFileName } from "../../contract/files";
import { type ConversationId, createUuid, type Uuid } from "../../contract/ids";
import { fileMaxBytes } from "../../contract/limits";
import { cleanText, isBlank } from "../../contract/text";
import { type Context, withRoom } from "./context";
import { isQuotaError } from "./room";
import { toMany } from "./spreading";
import type { UploadRow } from "./store";
import { SyncError } from "./sync-error";
import type { Tab } from "./tab";
import type { OutgoingFile } from "./views";
import { getContext, insertUnsent, parseBody, type Unsent } from "./writing";

/** Files on their way out, from where a person chose them to where the uploader finds them. */

const timesBroughtAgain = 3;

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

const uploadOf = (file: Uuid, name: string, { size }: Blob, createdAt: number): UploadRow => ({
  file,
  name,
  size,
  state: "waiting",
  sent: 0,
  createdAt,
});

/** The bytes first, by themselves: a big file takes a while to write, and texts must not wait for it. */
const insert = async (context: Context, attached: readonly Attached[], messages: readonly Unsent[]): Promise<void> => {
  const { strict } = context;
  const files = attached.map(({ file }) => file);
  try {
    for (const { file, blob } of attached) await withRoom(context, () => strict.blobs.put({ file, blob }), false);
    const uploads = (createdAt: number) =>
      attached.map(({ file, blob, body }) => uploadOf(file, attachmentOf(body)?.name ?? "", blob, createdAt));
    await withRoom(context, () => insertUnsent(context, messages, (at) => strict.uploads.bulkPut(uploads(at))), false);
  } catch (error) {
    await strict.blobs.bulkDelete(files).catch(() => {});
    throw new SyncError(isQuotaError(error) ? "no_room" : "unavailable");
  }
};

/** Resolves once the files and their messages are durably here; rejects when they are nowhere. */
export const sendFiles = async (tab: Tab, to: readonly ConversationId[], files: readonly OutgoingFile[]) => {
  const context = getContext(tab);
  const attached = files.map((file) => attach(file, tab.platform.now()));
  const messages = attached.flatMap(({ body }) => toMany(tab, to, { body, state: "awaiting" }));
  await insert(context, attached, messages);
  tab.written();
};

/**
 * The server lets go of a file that waits too long for its message, and does not take it under the same name again:
 * it gets another. False when it is not here any more either.
 */
export const bringAgain = ({ strict, platform }: Context, file: Uuid): Promise<boolean> =>
  strict.transaction("rw", strict.sending, async () => {
    const kept = await strict.blobs.get(file);
    const messages = await strict.naming(file).toArray();
    const [first] = messages;
    const attachment = first && attachmentOf(first.body);
    if (!kept || !attachment || messages.some(({ source, attempts }) => source || attempts >= timesBroughtAgain))
      return false;
    const again = createUuid(platform.now());
    await Promise.all([strict.blobs, strict.files, strict.uploads].map((table) => table.delete(file)));
    await strict.blobs.put({ file: again, blob: kept.blob });
    await strict.uploads.put(uploadOf(again, attachment.name, kept.blob, first.createdAt));
    await strict.outbox.bulkPut(
      messages.map((message) => ({
        ...message,
        body: { ...message.body, file: again } as Body,
        state: message.state === "failed" ? "failed" : "awaiting",
        attempts: message.attempts + 1,
      })),
    );
    return true;
  });
