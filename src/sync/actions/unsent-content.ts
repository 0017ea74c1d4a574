import type { ConversationId } from "#contract/ids.ts";
import { joinDrafts } from "#lib/text/join-drafts.ts";
import { waitForDraftSaves } from "#sync/drafts/pending-saves.ts";
import { listUnsentContent } from "#sync/drafts/unsent-content.ts";
import { getEngine } from "#sync/engine/engine.ts";
import { type DraftRow, type ParkedText, parkText, unparkText } from "#sync/unsent/draft-row.ts";
import { changeDraft } from "#sync/unsent/drafts.ts";

/** Whether a conversation has unsent files or recordings, including those of a screen that the user is leaving. */
export const hasUnsentContent = async (conversation: ConversationId): Promise<boolean> => {
  await waitForDraftSaves(conversation);
  const { files, recordings } = listUnsentContent(getEngine().client.unsent.list(), conversation);
  return files.length + recordings.length > 0;
};

/** Changes a draft. What cannot be committed stays in this page and the journal, and is tried again. */
const change = (conversation: ConversationId, run: (draft: DraftRow) => DraftRow): void =>
  void changeDraft(getEngine().client.unsent, conversation, run).catch(() => undefined);

export const discardParkedText = (conversation: ConversationId, { id }: ParkedText): void =>
  change(conversation, (draft) => unparkText(draft, id));

/** Takes the discarding of a parked text back. */
export const parkTextAgain = (conversation: ConversationId, parked: ParkedText): void =>
  change(conversation, (draft) => parkText(draft, parked));

/** Moves a parked text into the message field, behind what stands there. */
export const restoreParkedText = (conversation: ConversationId, parked: ParkedText): void => {
  const { drafts } = getEngine();
  const before = drafts.read(conversation);
  drafts.save(conversation, joinDrafts(before, parked.text), before);
  discardParkedText(conversation, parked);
};
