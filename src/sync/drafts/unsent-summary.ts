import type { SyncContext } from "#sync/store/sync-context.ts";
import { listUnpublishedPosts } from "#sync/store/unpublished-posts.ts";
import { toDraftTarget } from "#sync/unsent/attachment-rows.ts";
import { type DraftRow, isDraftShared } from "#sync/unsent/draft-row.ts";
import { listOutbox } from "#sync/unsent/messages.ts";
import { edits, unsentDeletions } from "#sync/unsent/operations.ts";

/**
 * Counts of data that would be lost: unsent messages, queued Tala statuses (`posts`), conversations and other targets
 * with a parked text or a draft, deletions that the server has not confirmed, and edits that it has not confirmed or that
 * are being typed.
 */
export type UnsentSummary = { messages: number; posts: number; drafts: number; deletions: number; edits: number };

/** `ending`: what ends. The drafts that the server has are lost with the account only, and not with this session. */
export const readUnsentSummary = async (
  context: SyncContext,
  ending: "session" | "account" = "session",
): Promise<UnsentSummary> => {
  const { unsent } = context;
  const drafts = [...unsent.list().drafts.values()];
  const isLost = (draft: DraftRow) => draft.text !== "" && !(ending === "session" && isDraftShared(draft));
  const parked = drafts.flatMap(({ conversation, parked = [] }) => parked.map((one) => ({ ...one, conversation })));
  const { attachments, recordings } = unsent.list();
  const targets = new Set<string>([
    ...drafts.filter(isLost).map(({ conversation }) => conversation),
    ...parked.flatMap(({ conversation, target }) => (target === undefined ? conversation : [])),
    ...[...attachments.keys(), ...recordings.keys()].map(toDraftTarget),
  ]);
  const messages = listOutbox(unsent).filter(({ sent }) => !sent).length;
  const posts = (await listUnpublishedPosts(context)).length;
  const editedMessages = new Set(
    [...edits.list(unsent), ...parked.filter(({ text }) => text.trim() !== "")].flatMap(({ conversation, target }) =>
      target === undefined ? [] : `${conversation} ${target}`,
    ),
  );
  return {
    messages,
    posts,
    drafts: targets.size,
    deletions: unsentDeletions.list(unsent).length,
    edits: editedMessages.size,
  };
};
