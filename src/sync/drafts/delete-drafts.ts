import type { ConversationId } from "#contract/ids.ts";
import { commitUnsent } from "#sync/store/sync-context.ts";
import type { SyncPort } from "#sync/store/sync-port.ts";
import { listAttachmentDrafts, putAttachmentDraft } from "#sync/unsent/attachment-drafts.ts";
import type { DraftTarget } from "#sync/unsent/attachment-rows.ts";
import { endDraft } from "#sync/unsent/draft-row.ts";
import { changeDraft } from "#sync/unsent/drafts.ts";
import { edits } from "#sync/unsent/operations.ts";
import { listRecordings, removeRecording } from "#sync/unsent/recordings.ts";

/** Deletes the drafts with attachments of a target. Their bytes follow. */
export const discardDrafts = async ({ unsent, platform }: SyncPort, target: DraftTarget): Promise<void> => {
  const drafts = listAttachmentDrafts(unsent.list(), target);
  await unsent.changeAll(drafts.map((draft) => putAttachmentDraft(draft, undefined, platform.now())));
};

/** Deletes the recordings of a conversation, or the one with this start. */
export const deleteRecordingDraft = (
  { unsent }: SyncPort,
  conversation: ConversationId,
  startedAt?: number,
): Promise<void> => unsent.changeAll(listRecordings(unsent.list(), conversation, startedAt).map(removeRecording));

/** Deletes all drafts, parked texts and refused edits of a removed conversation. Clearing its history keeps them. */
export const deleteConversationDrafts = async (port: SyncPort, conversation: ConversationId): Promise<void> => {
  const context = port.context.get();
  if (!context) return;
  const at = port.platform.now();
  await changeDraft(port.unsent, conversation, (draft) => endDraft(draft, at)).catch(() => undefined);
  const refused = edits.list(port.unsent).filter((edit) => edit.conversation === conversation && edit.error);
  await commitUnsent(context, [
    ...listAttachmentDrafts(port.unsent.list(), conversation).map((draft) => putAttachmentDraft(draft, undefined, at)),
    ...listRecordings(port.unsent.list(), conversation).map(removeRecording),
    ...refused.map(edits.end),
  ]);
};
