import Dexie from "dexie";
import * as v from "valibot";
import { errorCodes } from "#contract/errors.ts";
import { ConversationId, Uuid } from "#contract/ids.ts";
import { Body } from "#contract/messages/body.ts";
import { Seq } from "#contract/messages/positions.ts";
import type { Platform } from "#sync/platform/platform.ts";
import { BlobRow, type MetaRow, UploadRow } from "#sync/store/database.ts";
import { AttachmentDraftRow, isDraftKey, RecordingChunkRow, RecordingRow } from "#sync/store/pending/draft-keys.ts";
import { isPendingDeletionKey } from "#sync/store/pending/pending-deletions.ts";
import { isPendingEditKey } from "#sync/store/pending/pending-edits.ts";
import { isPendingFlagsKey } from "#sync/store/pending/pending-flags.ts";
import { isPendingMessageFlagsKey } from "#sync/store/pending/pending-message-flags.ts";
import { isPendingReactionKey } from "#sync/store/pending/pending-reactions.ts";
import { PostQueueRow } from "#sync/store/post-rows.ts";
import { hasPendingSettings, type SettingsRow, settingsKey } from "#sync/store/settings-rows.ts";
import { isQuotaError } from "#sync/store/storage-quota.ts";
import { ReplyTarget } from "#sync/unsent/draft-row.ts";

/**
 * Entries of `meta` that exist on this device only: drafts, pending deletions, edits, reactions and flags, and changed
 * settings.
 */
const UnsentMetaRow = v.union([
  v.object({ key: v.pipe(v.string(), v.check(isDraftKey)), value: AttachmentDraftRow }),
  v.object({
    key: v.pipe(v.string(), v.check(isPendingDeletionKey)),
    value: v.object({ cid: Uuid, conversation: ConversationId }),
  }),
  v.object({
    key: v.pipe(v.string(), v.check(isPendingEditKey)),
    value: v.object({
      conversation: ConversationId,
      target: v.union([Seq, Uuid]),
      edit: v.number(),
      text: v.string(),
      body: Body,
      error: v.optional(v.picklist(errorCodes)),
    }),
  }),
  v.object({
    key: v.pipe(v.string(), v.check(isPendingFlagsKey)),
    value: v.looseObject({ conversation: ConversationId, at: v.number() }),
  }),
  v.object({
    key: v.pipe(v.string(), v.check(isPendingMessageFlagsKey)),
    value: v.looseObject({ conversation: ConversationId, seq: Seq, epoch: v.string(), at: v.number() }),
  }),
  v.object({
    key: v.pipe(v.string(), v.check(isPendingReactionKey)),
    value: v.object({
      conversation: ConversationId,
      target: ReplyTarget,
      emoji: v.nullable(v.string()),
      epoch: v.string(),
    }),
  }),
  v.object({ key: v.literal(settingsKey), value: v.object({ wanted: v.object({}) }) }),
]);

/** Whether a row of `meta` exists on this device only, whichever version wrote it. */
export const isUnsentMetaRow = ({ key, value }: MetaRow): boolean =>
  isDraftKey(key) ||
  isPendingDeletionKey(key) ||
  isPendingEditKey(key) ||
  isPendingFlagsKey(key) ||
  isPendingMessageFlagsKey(key) ||
  isPendingReactionKey(key) ||
  (key === settingsKey && hasPendingSettings(value as SettingsRow));

/**
 * Tables with content that exists on this device only, with the schemas of their rows. In the order of their backup:
 * texts first, the bytes of files last.
 */
const unsentRows = {
  meta: UnsentMetaRow,
  postbox: PostQueueRow,
  uploads: UploadRow,
  recordings: RecordingRow,
  chunks: RecordingChunkRow,
  blobs: BlobRow,
};

type UnsentTable = keyof typeof unsentRows;

const unsentTables = Object.keys(unsentRows) as UnsentTable[];

export const isUnsentRow = (table: UnsentTable, row: unknown): boolean => v.is(unsentRows[table], row);

/**
 * Files of unsent messages, unsent posts with their files, drafts with attachments, pending deletions and edits, settings
 * (in `meta`) and interrupted recordings.
 */
export type UnsentSnapshot = { [Table in UnsentTable]: v.InferOutput<(typeof unsentRows)[Table]>[] };

export const emptyUnsentSnapshot: UnsentSnapshot = {
  meta: [],
  postbox: [],
  uploads: [],
  recordings: [],
  chunks: [],
  blobs: [],
};

/** Snapshot of the rows that `read` returns for each table. */
export const readUnsentTables = async (read: (table: UnsentTable) => Promise<unknown[]>): Promise<UnsentSnapshot> => {
  const snapshot: Record<string, unknown[]> = {};
  for (const table of unsentTables) snapshot[table] = await read(table);
  return snapshot as UnsentSnapshot;
};

const toBackupName = (name: string): string => `${name}-backup`;

/**
 * Backup database of unsent content while the main database is rebuilt, so that a page that ends half way does not lose
 * it.
 */
class UnsentBackupDatabase extends Dexie {
  constructor(platform: Platform, name: string) {
    super(toBackupName(name), { ...platform.indexedDb, chromeTransactionDurability: "strict", cache: "disabled" });
    this.version(1).stores({
      meta: "key",
      postbox: "id",
      uploads: "file",
      recordings: "conversation",
      chunks: "[conversation+n]",
      blobs: "file",
    } satisfies Record<UnsentTable, string>);
  }
}

export const saveUnsentBackup = async (platform: Platform, name: string, unsent: UnsentSnapshot): Promise<void> => {
  const backup = new UnsentBackupDatabase(platform, name);
  try {
    for (const table of unsentTables) {
      const batches: unknown[][] = table === "blobs" ? unsent.blobs.map((row) => [row]) : [unsent[table]];
      for (const rows of batches) await backup.table(table).bulkPut(rows);
    }
  } catch (error) {
    if (!isQuotaError(error)) throw error; // texts are written first, then as many files as fit
  } finally {
    backup.close();
  }
};

/**
 * Whether there may be a backup: false only if the browser lists its databases and this one is not among them. A list
 * is quicker than to create the database, read it and delete it.
 */
export const mayHaveUnsentBackup = async ({ indexedDb }: Platform, name: string): Promise<boolean> => {
  const { indexedDB: factory } = indexedDb ?? globalThis;
  const databases = await factory.databases?.().catch(() => undefined);
  return databases?.some((database) => database.name === toBackupName(name)) ?? true;
};

/** Reads the backup, which an earlier page may have left. */
export const readUnsentBackup = async (platform: Platform, name: string): Promise<UnsentSnapshot> => {
  const backup = new UnsentBackupDatabase(platform, name);
  try {
    return await readUnsentTables((table) => backup.table(table).toArray());
  } finally {
    backup.close();
  }
};

export const deleteUnsentBackup = async (platform: Platform, name: string): Promise<void> => {
  await new UnsentBackupDatabase(platform, name).delete();
};
