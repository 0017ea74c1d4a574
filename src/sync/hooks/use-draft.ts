import { useCallback, useEffect, useRef } from "react";
import {
  type Draft,
  type DraftKeeper,
  type DraftSlot,
  type DraftTarget,
  discardDraftSlot,
  hasAttachmentDraft,
  openAttachmentDraft,
} from "#sync/actions.ts";

type Composition = Pick<Draft, "files" | "text" | "to" | "id">;

/** What was let go of there is kept within moments: nobody who comes back looks for it before. */
const pendingDraftCloses = new Map<DraftTarget, Promise<unknown>>();

const warnNotSaved = (error: unknown): void => console.warn("what is begun is not kept", error);

/**
 * Keeps what is composed in a place on the phone until it is sent: whether its sheet was closed by a slip of the
 * thumb or its page died, what was chosen and written is `found` again. While `now` is undefined it is not known.
 */
export const useDraft = (
  place: DraftTarget,
  now: Composition | undefined,
  found: (begun: Composition) => void,
): { getSlot(): DraftSlot | undefined; discard(): Promise<void> } => {
  const keeper = useRef<DraftKeeper>(undefined);
  const latest = useRef(now);
  const take = useRef(found);
  const isSent = useRef(false);
  const left = useRef<{ kept: DraftSlot; closed: Promise<void> }>(undefined);

  const letGo = useCallback(() => {
    const opened = keeper.current;
    keeper.current = undefined;
    if (opened) left.current = { kept: opened.slot, closed: opened.close() };
  }, []);
  const keepLatest = useCallback(() => {
    if (latest.current) keeper.current?.save({ ...latest.current, captions: new Map(), isOriginal: false });
  }, []);

  useEffect(() => {
    let isCurrent = true;
    left.current = undefined;
    const open = async () => {
      await pendingDraftCloses.get(place);
      const wasKept = await hasAttachmentDraft(place);
      const opened = await openAttachmentDraft(place);
      if (isSent.current) return opened?.discard();
      const before = wasKept ? await opened?.load() : undefined;
      keeper.current = opened;
      if (!before) keepLatest();
      if (!isCurrent) letGo();
      else if (before) take.current(before);
    };
    const opening = open().catch(warnNotSaved);
    return () => {
      isCurrent = false;
      letGo();
      pendingDraftCloses.set(place, opening.then(() => left.current?.closed).catch(warnNotSaved));
    };
  }, [place, keepLatest, letGo]);

  const key = now && JSON.stringify([now.id, now.text, now.to, now.files.map(({ name }) => name)]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: what is composed is made anew at every rendering
  useEffect(() => {
    latest.current = now;
    keepLatest();
  }, [key, keepLatest]);

  return {
    getSlot: () => keeper.current?.slot ?? left.current?.kept,
    /** Resolves when nothing of it is kept any more. */
    async discard() {
      isSent.current = true;
      const opened = keeper.current;
      keeper.current = undefined;
      await opened?.discard();
      // It was sent after its screen had been left, and what was kept let go.
      if (!opened && left.current)
        await left.current.closed.then(() => left.current && discardDraftSlot(left.current.kept)).catch(warnNotSaved);
    },
  };
};
