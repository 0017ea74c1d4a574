import type { Uuid } from "#contract/ids.ts";
import type { Audience } from "#contract/settings/settings.ts";
import { getEngine } from "#sync/engine/engine.ts";
import {
  cancelPost,
  deletePostOnServer,
  enqueuePost,
  type OutgoingPicture,
  type PostOutcome,
  requeuePost,
  waitForPostOutcome,
} from "#sync/feed/post-queue.ts";
import type { OwnedDraft } from "#sync/unsent/attachment-rows.ts";

export type { OutgoingPicture } from "#sync/feed/post-queue.ts";

/** Queues a status. Resolves to its id; rejects with a SyncError if it is not queued. */
export const publishPost = async (
  text: string,
  picture: OutgoingPicture | undefined,
  audience: Audience | undefined,
  draft?: OwnedDraft,
): Promise<Uuid> => enqueuePost(getEngine().client, text, picture, audience, draft);

/** Waits some seconds for the outcome of a queued status; "waiting" if it is still undecided. */
export const getPostOutcome = async (id: Uuid): Promise<PostOutcome> => waitForPostOutcome(getEngine().client, id);

export const retryPendingPost = async (id: Uuid): Promise<void> => requeuePost(getEngine().client, id);
/** Cancels a queued status. Rejects with a SyncError if it was published meanwhile and cannot be deleted. */
export const discardPendingPost = async (id: Uuid): Promise<void> => cancelPost(getEngine().client, id);

/** Deletes an own status for everyone. Needs the network; rejects with a SyncError. */
export const deletePublishedPost = async (id: Uuid): Promise<void> => {
  await deletePostOnServer(getEngine().client, id);
};
