import type { Uuid } from "../../contract/ids";
import { running } from "./engine";
import { type Outcome, type OutgoingPicture, publish, readOutcome, retryPost, takeBack, unpublish } from "./postbox";
import type { KeptChoice } from "./store";
import { SyncError } from "./sync-error";
import type { Tab } from "./tab";

export type { OutgoingPicture } from "./postbox";

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

const outcomeLookMs = 100;
const patienceMs = 8_000;
const unreachedMs = 1_000; // without the server it is not worth more

/** What becomes of a status within some seconds: "waiting" when nothing did. */
export const outcomeOf = async (id: Uuid): Promise<Outcome> => {
  const { platform, context, link } = getTab();
  const begun = platform.now();
  for (;;) {
    const store = context.get()?.store;
    const outcome = store && (await readOutcome(store, id));
    if (outcome !== undefined && outcome !== "waiting") return outcome;
    const isReached = platform.isOnline() && link.get() === "online";
    if (platform.now() - begun >= (isReached ? patienceMs : unreachedMs)) return "waiting";
    await new Promise<void>((resolve) => platform.after(outcomeLookMs, resolve));
  }
};

export const retryWaiting = async (id: Uuid): Promise<void> => retryPost(getTab(), id);
export const dropWaiting = async (id: Uuid): Promise<void> => takeBack(getTab(), id);

/** Deletes one's own status for everybody. Needs the network and rejects with a SyncError. */
export const deletePost = async (id: Uuid): Promise<void> => {
  await unpublish(getTab(), id);
};
