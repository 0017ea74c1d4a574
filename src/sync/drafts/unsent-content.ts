import type { ConversationId } from "#contract/ids.ts";
import type { UnsentContent } from "#sync/store/view-models.ts";
import { listAttachmentDrafts } from "#sync/unsent/attachment-drafts.ts";
import { listRecordings } from "#sync/unsent/recordings.ts";
import type { UnsentState } from "#sync/unsent/unsent-state.ts";

/** Files and voice recordings of a conversation that were not sent. */
export const listUnsentContent = (unsent: UnsentState, conversation: ConversationId): UnsentContent => ({
  files: listAttachmentDrafts(unsent, conversation).flatMap((row) => row.files),
  recordings: listRecordings(unsent, conversation).map(({ startedAt, ms }) => ({ startedAt, ms })),
});
