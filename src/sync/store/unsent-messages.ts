import type { ErrorCode } from "#contract/errors.ts";
import type { ConversationId } from "#contract/ids.ts";
import { changeMessage, listUnsent, listUnsentByFile } from "#sync/unsent/messages.ts";
import { conversationFlags } from "#sync/unsent/operations.ts";
import { findUploadFile, type OutboxRow } from "#sync/unsent/outbox-row.ts";
import type { UnsentChange } from "#sync/unsent/unsent-state.ts";
import type { UnsentStore } from "#sync/unsent/unsent-store.ts";
import { failUpload } from "#sync/unsent/uploads.ts";
import type { LocalConversationRow, LocalStore } from "./database.ts";
import { setListPosition } from "./row-mapping.ts";

/**
 * Messages a member wrote and did not send stay readable after leaving a group, and also when its history was deleted.
 * They can be copied and deleted, but are not sent. Messages that were in flight when the membership ended may be in
 * the log: the server is asked under the same client id.
 */

/** Whether the message waits for its file, so that the server cannot have it. */
export const isAwaitingUpload = ({ state }: OutboxRow): boolean => state === "awaiting";

/** Transaction of the local store that changes unsent messages once it is committed. */
export type UnsentTransaction = {
  readonly store: LocalStore;
  readonly unsent: Pick<UnsentStore, "list">;
  /** Changes of the unsent database to be made after the commit. */
  readonly unsentChanges: UnsentChange[];
  /** Device time at the start. */
  readonly startedAt: number;
};

/**
 * Marks unsent messages of a conversation as failed, and their uploads unless another message needs the file. Used
 * after leaving a group or the deletion of the recipient's account. `error` is the code the server would answer.
 */
export const failUnsentMessages = (
  { unsent, unsentChanges, startedAt }: UnsentTransaction,
  conversation: ConversationId,
  matches: (row: OutboxRow) => boolean,
  error: ErrorCode = "conversation_not_found",
): void => {
  const failed = listUnsent(unsent, conversation).filter(matches);
  const ids = new Set(failed.map(({ cid }) => cid));
  for (const { cid } of failed)
    unsentChanges.push(
      changeMessage(cid, startedAt, (row) => (row.state === "failed" ? row : { ...row, state: "failed", error })),
    );
  for (const file of new Set(failed.flatMap((row) => findUploadFile(row) ?? []))) {
    const isStillNeeded = listUnsentByFile(unsent, file).some(({ cid, state }) => state !== "failed" && !ids.has(cid));
    if (!isStillNeeded) unsentChanges.push(failUpload(file, startedAt));
  }
};

/** Sets the flags in a row that this person chose and the server has not confirmed, as the index of the list needs them. */
export const projectFlags = (unsent: Pick<UnsentStore, "list" | "find">, row: LocalConversationRow): void => {
  const pending = conversationFlags.find(unsent, { conversation: row.id });
  delete row.wanted;
  if (!pending) return;
  const { marked, archived, pinned, chosenAt } = pending;
  row.wanted = { marked, archived, pinned, at: chosenAt };
};

/** Updates the flags of rows that this person chose, and their places in the conversation list. */
export const updateListPositions = (
  unsent: Pick<UnsentStore, "list" | "find">,
  rows: readonly LocalConversationRow[],
): void => {
  for (const row of rows) {
    projectFlags(unsent, row);
    setListPosition(row);
  }
};
