import type { DraftTarget } from "#sync/store/database.ts";

/** Saves of drafts whose screen was left in this page, by target. */
const pendingSaves = new Map<DraftTarget, Promise<unknown>>();

/** Registers the save of a draft whose screen is being left. */
export const trackDraftSave = (target: DraftTarget, save: Promise<unknown> | undefined): void => {
  const saved = save?.catch((error: unknown) => console.warn("draft could not be saved", error));
  pendingSaves.set(
    target,
    Promise.all([pendingSaves.get(target), saved]).then(() => {}),
  );
};

/** Resolves once the screens of this target that were left have saved their drafts, so that the store has them. */
export const waitForDraftSaves = async (target: DraftTarget): Promise<void> => {
  await pendingSaves.get(target);
};
