import { useCallback, useEffect, useRef } from "react";
import {
  type Choice,
  type ChoiceKeeper,
  type ChoicePlace,
  dropKept,
  hasChoice,
  type KeptChoice,
  openChoice,
} from "#sync/actions.ts";

type Begun = Pick<Choice, "files" | "text" | "to" | "id">;

/** What was let go of there is kept within moments: nobody who comes back looks for it before. */
const leaving = new Map<ChoicePlace, Promise<unknown>>();

const warn = (error: unknown): void => console.warn("what is begun is not kept", error);

/**
 * Keeps what is composed in a place on the phone until it is sent: whether its sheet was closed by a slip of the
 * thumb or its page died, what was chosen and written is `found` again. While `now` is undefined it is not known.
 */
export const useBegun = (
  place: ChoicePlace,
  now: Begun | undefined,
  found: (begun: Begun) => void,
): { kept(): KeptChoice | undefined; drop(): Promise<void> } => {
  const keeper = useRef<ChoiceKeeper>(undefined);
  const latest = useRef(now);
  const take = useRef(found);
  const isSent = useRef(false);
  const left = useRef<{ kept: KeptChoice; closed: Promise<void> }>(undefined);

  const letGo = useCallback(() => {
    const opened = keeper.current;
    keeper.current = undefined;
    if (opened) left.current = { kept: opened.kept, closed: opened.close() };
  }, []);
  const keepLatest = useCallback(() => {
    if (latest.current) keeper.current?.keep({ ...latest.current, captions: new Map(), isOriginal: false });
  }, []);

  useEffect(() => {
    let isCurrent = true;
    left.current = undefined;
    const open = async () => {
      await leaving.get(place);
      const wasKept = await hasChoice(place);
      const opened = await openChoice(place);
      if (isSent.current) return opened?.drop();
      const before = wasKept ? await opened?.find() : undefined;
      keeper.current = opened;
      if (!before) keepLatest();
      if (!isCurrent) letGo();
      else if (before) take.current(before);
    };
    const opening = open().catch(warn);
    return () => {
      isCurrent = false;
      letGo();
      leaving.set(place, opening.then(() => left.current?.closed).catch(warn));
    };
  }, [place, keepLatest, letGo]);

  const key = now && JSON.stringify([now.id, now.text, now.to, now.files.map(({ name }) => name)]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: what is composed is made anew at every rendering
  useEffect(() => {
    latest.current = now;
    keepLatest();
  }, [key, keepLatest]);

  return {
    kept: () => keeper.current?.kept ?? left.current?.kept,
    /** Resolves when nothing of it is kept any more. */
    async drop() {
      isSent.current = true;
      const opened = keeper.current;
      keeper.current = undefined;
      await opened?.drop();
      // It was sent after its screen had been left, and what was kept let go.
      if (!opened && left.current)
        await left.current.closed.then(() => left.current && dropKept(left.current.kept)).catch(warn);
    },
  };
};
