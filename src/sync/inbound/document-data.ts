import * as v from "valibot";
import { DocumentData } from "#contract/wire/document/document-data.ts";
import { documentDataId } from "#contract/wire/document/document-names.ts";
import type { LocalConversationRow } from "#sync/store/database.ts";
import { writeMembers } from "#sync/store/members.ts";
import { readOwnProfile, saveOwnProfile } from "#sync/store/own-profile-row.ts";
import { retryOnQuotaError, type SyncContext } from "#sync/store/sync-context.ts";
import { applyCatchUp, readSyncCursor } from "#sync/store/sync-cursor.ts";
import { type ApplyResult, applyInTransaction, deleteOrphans, settleUnsent } from "./apply/apply-server-changes.ts";
import { afterNewestSeq } from "./apply/log-confirmation.ts";
import { type ServerChange, toRowChanges } from "./server-changes.ts";

/** Takes the data that the Worker embedded in this document; undefined if there is none or it was taken before. */
export const takeDocumentData = (): DocumentData | undefined => {
  const element = typeof document === "undefined" ? null : document.getElementById(documentDataId);
  if (!element) return undefined;
  element.remove();
  try {
    const parsed = v.safeParse(DocumentData, JSON.parse(element.textContent ?? ""));
    return parsed.success ? parsed.output : undefined;
  } catch {
    return undefined;
  }
};

/**
 * Inbox of the document. An empty store takes it as the answer to its first request; a store with a cursor only takes
 * the newer rows and leaves its cursor, so that the socket brings what is between. Another epoch is left to the socket.
 */
const toInboxChanges = async ({ store, platform }: SyncContext, { changes }: DocumentData): Promise<ServerChange[]> => {
  const cursor = await readSyncCursor(store);
  if (cursor.epoch !== "") return cursor.epoch === changes.epoch ? toRowChanges(changes) : [];
  const now = platform.now();
  return [
    {
      type: "answer",
      knownCounter: 0,
      epoch: changes.epoch,
      counter: changes.counter,
      move: (before) => applyCatchUp(before, changes.since, changes, now),
      changes: toRowChanges(changes),
    },
  ];
};

const toPageChanges = ({ page, changes }: DocumentData, row: LocalConversationRow | undefined): ServerChange[] => {
  const inbox = changes.rows.find(({ conversation }) => conversation === page?.conversation);
  if (!page || !inbox || row?.epoch !== page.result.epoch) return [];
  const { conversation, result } = page;
  // The page was read after the inbox, so it contains every revision that the inbox row counts.
  const request = { conversation, direction: "before", seq: afterNewestSeq, head: 0, revised: inbox.revision } as const;
  return [{ type: "page", request, page: result }];
};

/** Writes inbox, page, members and own profile in one transaction, all or none. Resolves to what each step changed. */
const writeDocumentData = (context: SyncContext, data: DocumentData): Promise<ApplyResult[]> => {
  const { store, platform } = context;
  const apply = (changes: ServerChange[]) => applyInTransaction(context, changes, platform.now());
  return store.transaction("rw", store.inboundTables, async () => {
    const inboxChanges = await toInboxChanges(context, data);
    if (inboxChanges.length === 0) return [];
    const inbox = await apply(inboxChanges);
    const { page, members, profile } = data;
    const pageChanges = toPageChanges(
      data,
      inbox.rows.find(({ id }) => id === page?.conversation),
    );
    const chat = pageChanges.length > 0 ? [await apply(pageChanges)] : [];
    if (members) await writeMembers(context, members.group, members.page);
    if (profile && !(await readOwnProfile(store))) await saveOwnProfile(store, profile);
    return [inbox, ...chat];
  });
};

/** Stores the data of the document before the first render. Failures are left to the socket, which brings it again. */
export const applyDocumentData = async (context: SyncContext, data: DocumentData): Promise<void> => {
  if (data.user !== context.me) return;
  try {
    const results = await retryOnQuotaError(context, () => writeDocumentData(context, data));
    for (const result of results) {
      settleUnsent(context, result);
      deleteOrphans(context, result);
    }
  } catch (error) {
    console.warn("the document's data could not be stored", error);
  }
};
