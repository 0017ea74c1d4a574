import { useEffect, useRef, useState } from "react";
import { hasAttachmentDraft, openAttachmentDraft } from "#sync/actions/drafts.ts";
import type { DraftKeeper } from "#sync/drafts/draft-keeper.ts";
import { trackDraftSave } from "#sync/drafts/pending-saves.ts";
import type { Draft } from "#sync/store/view-models.ts";
import type { DraftTarget, SavedDraft } from "#sync/unsent/attachment-rows.ts";

type Composition = Pick<Draft, "files" | "text" | "to" | "id" | "audience">;

/**
 * Saves a composition as the target's draft until it is sent, so that it survives a closed sheet or a crashed page.
 * `onRestored` receives the draft of an earlier page. `current` is undefined while the composition is not known yet.
 */
export const useDraft = (
  target: DraftTarget,
  current: Composition | undefined,
  onRestored: (composition: Composition) => void,
): { prepareToSend(): Promise<SavedDraft | undefined>; discard(): Promise<void> } => {
  const keeper = useRef<Promise<DraftKeeper | undefined>>(undefined);
  const latest = useRef<Composition>(undefined);
  const restore = useRef(onRestored);
  const isSent = useRef(false);
  const [restoredCount, setRestoredCount] = useState(0);

  useEffect(() => {
    let isMounted = true;
    const handleRestored = (saved: Draft) => {
      latest.current = undefined; // the next render saves it merged with the restored draft
      if (isSent.current || !isMounted) return;
      restore.current(saved);
      setRestoredCount((count) => count + 1);
    };
    const opened = hasAttachmentDraft(target)
      .catch(() => false)
      .then(() => openAttachmentDraft(target, handleRestored));
    keeper.current = opened;
    return () => {
      isMounted = false;
      trackDraftSave(
        target,
        opened.then((keeper) => keeper?.close()),
      );
    };
  }, [target]);

  const files = current?.files.map(({ name, size, lastModified }) => [name, size, lastModified]);
  const key = current && JSON.stringify([current.id, current.text, current.to, current.audience, files]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the composition is a new object at every render
  useEffect(() => {
    latest.current = current;
    void keeper.current?.then((keeper) => {
      if (latest.current && !isSent.current)
        keeper?.save({ ...latest.current, captions: new Map(), isOriginal: false });
    });
  }, [target, key, restoredCount]);

  return {
    prepareToSend: async () => (await keeper.current)?.prepareToSend(),
    /** Deletes the draft. Resolves once nothing of it is stored. */
    async discard() {
      isSent.current = true;
      await (await keeper.current)?.discard();
    },
  };
};
