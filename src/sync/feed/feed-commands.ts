import type { Uuid } from "#contract/ids.ts";
import { activeEngine } from "#sync/engine.ts";
import { SyncError } from "#sync/platform/sync-error.ts";
import type { DraftSlot } from "#sync/store/database.ts";
import type { Tab } from "#sync/tabs/tab.ts";
import {
  cancelPost,
  deletePostOnServer,
  enqueuePost,
  type OutgoingPicture,
  type PostOutcome,
  requeuePost,
  waitForPostOutcome,
} from "./post-queue.ts";

export type { OutgoingPicture } from "./post-queue.ts";

const getRunningTab = (): Tab => {
  const tab = activeEngine.get()?.tab;
  if (!tab) throw new SyncError("unavailable");
  return tab;
};

/** Resolves with its id once the status is durably in the postbox; rejects with a SyncError when it is nowhere. */
export const publishPost = async (
  text: string,
  picture: OutgoingPicture | undefined,
  kept?: DraftSlot,
): Promise<Uuid> => enqueuePost(getRunningTab(), text, picture, kept);

/** What becomes of a status within some seconds: "waiting" when nothing did. */
export const getPostOutcome = async (id: Uuid): Promise<PostOutcome> => waitForPostOutcome(getRunningTab(), id);

export const retryPendingPost = async (id: Uuid): Promise<void> => requeuePost(getRunningTab(), id);
/** Rejects with a SyncError when it was published meanwhile and cannot be deleted. */
export const discardPendingPost = async (id: Uuid): Promise<void> => cancelPost(getRunningTab(), id);

/** Deletes one's own status for everybody. Needs the network and rejects with a SyncError. */
export const deletePublishedPost = async (id: Uuid): Promise<void> => {
  await deletePostOnServer(getRunningTab(), id);
};
