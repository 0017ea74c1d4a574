import { useCallback, useEffect, useRef } from "react";
import { type Choice, type ChoiceKeeper, hasChoice, openChoice } from "../../sync/actions";

type Begun = Pick<Choice, "files" | "text" | "to">;

const warn = (error: unknown): void => console.warn("a broadcast is not kept", error);

/**
 * Keeps a broadcast on the phone while it is composed, until it is sent: whether its sheet was closed by a slip of
 * the thumb or its page died, what was chosen and written is `found` again. While `now` is undefined it is not known.
 */
export const useBegun = (now: Begun | undefined, found: (begun: Begun) => void): { drop(): void } => {
  const keeper = useRef<ChoiceKeeper>(undefined);
  const latest = useRef(now);
  const take = useRef(found);
  const isSent = useRef(false);

  const keepLatest = useCallback(() => {
    if (latest.current) keeper.current?.keep({ ...latest.current, captions: new Map(), isOriginal: false });
  }, []);

  useEffect(() => {
    let isCurrent = true;
    const open = async () => {
      const wasKept = await hasChoice("broadcast");
      const opened = await openChoice("broadcast");
      if (isSent.current) return opened?.drop();
      const before = wasKept ? await opened?.find() : undefined;
      keeper.current = opened;
      if (!before) keepLatest();
      if (!isCurrent) await opened?.close();
      else if (before) take.current(before);
    };
    open().catch(warn);
    return () => {
      isCurrent = false;
      void keeper.current?.close();
      keeper.current = undefined;
    };
  }, [keepLatest]);

  const key = now && JSON.stringify([now.text, now.to, now.files.map(({ name }) => name)]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: what is composed is made anew at every rendering
  useEffect(() => {
    latest.current = now;
    keepLatest();
  }, [key, keepLatest]);

  return {
    drop() {
      isSent.current = true;
      void keeper.current?.drop();
      keeper.current = undefined;
    },
  };
};
