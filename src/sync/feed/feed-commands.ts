import type { Uuid } from "#contract/ids.ts";
import { running } from "#sync/engine.ts";
import { SyncError } from "#sync/platform/sync-error.ts";
import type { KeptChoice } from "#sync/store/database.ts";
import type { Tab } from "#sync/tabs/tab.ts";
import {
  awaitOutcome,
  type Outcome,
  type OutgoingPicture,
  publish,
  retryPost,
  takeBack,
  unpublish,
} from "./post-queue.ts";

export type { OutgoingPicture } from "./post-queue.ts";

const getTab = (): Tab => {
  const tab = running.get()?.tab;
  if (!tab) throw new SyncError("unavailable");
  return tab;
};

/** Resolves with its id once the status is durably in the postbox; rejects with a SyncError when it is nowhere. */
export const publishPost = async (
  text: string,
  picture: OutgoingPicture | undefined,
  kept?: KeptChoice,
): Promise<Uuid> => publish(getTab(), text, picture, kept);

/** What becomes of a status within some seconds: "waiting" when nothing did. */
export const outcomeOf = async (id: Uuid): Promise<Outcome> => awaitOutcome(getTab(), id);

export const retryWaiting = async (id: Uuid): Promise<void> => retryPost(getTab(), id);
/** Rejects with a SyncError when it was published meanwhile and cannot be deleted. */
export const dropWaiting = async (id: Uuid): Promise<void> => takeBack(getTab(), id);

/** Deletes one's own status for everybody. Needs the network and rejects with a SyncError. */
export const deletePost = async (id: Uuid): Promise<void> => {
  await unpublish(getTab(), id);
};
