import { useCallback, useEffect, useRef } from "react";
import {
  type Draft,
  type DraftKeeper,
  type DraftSlot,
  type DraftTarget,
  discardDraftSlot,
  hasAttachmentDraft,
  openAttachmentDraft,
  type SavedDraft,
  trackDraftSave,
  waitForDraftSaves,
} from "#sync/actions.ts";

type Composition = Pick<Draft, "files" | "text" | "to" | "id">;

const warnNotSaved = (error: unknown): void => console.warn("draft could not be saved", error);

/**
 * Saves a composition as the target's draft until it is sent, so that it survives a closed sheet or a crashed page.
 * `onRestored` receives the draft of an earlier page. `current` is undefined while the composition is not known yet.
 */
export const useDraft = (
  target: DraftTarget,
  current: Composition | undefined,
  onRestored: (composition: Composition) => void,
): { getSlot(): DraftSlot | undefined; prepareToSend(): Promise<SavedDraft | undefined>; discard(): Promise<void> } => {
  const keeper = useRef<DraftKeeper>(undefined);
  const latest = useRef(current);
  const restore = useRef(onRestored);
  const isSent = useRef(false);
  const closedDraft = useRef<{ slot: DraftSlot; closed: Promise<void> }>(undefined);

  const closeDraft = useCallback(() => {
    const opened = keeper.current;
    keeper.current = undefined;
    if (opened) closedDraft.current = { slot: opened.slot, closed: opened.close() };
  }, []);
  const saveLatest = useCallback(() => {
    if (latest.current) keeper.current?.save({ ...latest.current, captions: new Map(), isOriginal: false });
  }, []);

  useEffect(() => {
    let isMounted = true;
    closedDraft.current = undefined;
    const open = async () => {
      await waitForDraftSaves(target);
      const wasSaved = await hasAttachmentDraft(target);
      const opened = await openAttachmentDraft(target);
      if (isSent.current) return opened?.discard();
      const saved = wasSaved ? await opened?.load() : undefined;
      keeper.current = opened;
      if (!saved) saveLatest();
      if (!isMounted) closeDraft();
      else if (saved) restore.current(saved);
    };
    const opening = open().catch(warnNotSaved);
    return () => {
      isMounted = false;
      closeDraft();
      trackDraftSave(
        target,
        opening.then(() => closedDraft.current?.closed),
      );
    };
  }, [target, saveLatest, closeDraft]);

  const key = current && JSON.stringify([current.id, current.text, current.to, current.files.map(({ name }) => name)]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the composition is a new object at every render
  useEffect(() => {
    latest.current = current;
    saveLatest();
  }, [key, saveLatest]);

  return {
    getSlot: () => keeper.current?.slot ?? closedDraft.current?.slot,
    prepareToSend: async () => keeper.current?.prepareToSend(),
    /** Deletes the draft. Resolves once nothing of it is stored. */
    async discard() {
      isSent.current = true;
      const opened = keeper.current;
      keeper.current = undefined;
      await opened?.discard();
      // It was sent after its screen was closed, which closed the draft too.
      const closed = closedDraft.current;
      if (!opened && closed) await closed.closed.then(() => discardDraftSlot(closed.slot)).catch(warnNotSaved);
    },
  };
};
