import type { DraftTarget } from "#sync/unsent/attachment-rows.ts";

/** Saves in progress of drafts whose screen the user has left, by target. */
const pendingSaves = new Map<DraftTarget, Promise<unknown>>();

/** Registers the save of a draft whose screen is being left. */
export const trackDraftSave = (target: DraftTarget, save: Promise<unknown> | undefined): void => {
  const saved = save?.catch((error: unknown) => console.warn("draft could not be saved", error));
  pendingSaves.set(
    target,
    Promise.all([pendingSaves.get(target), saved]).then(() => {}),
  );
};

/** Resolves once the drafts of this target are stored whose screens the user has left. */
export const waitForDraftSaves = async (target: DraftTarget): Promise<void> => {
  await pendingSaves.get(target);
};
