import { useEffect, useState } from "react";
import type { ConversationId } from "#contract/ids.ts";

const bannerDurationMs = 4_000;
const minShownMs = 1_200; // what is being read does not change under a finger

type ShownBanner = { id: ConversationId; at: number; revision: number };

/**
 * Which conversation's news show: one at a time, for four seconds after its newest. While somebody's hand is on it
 * (`isHeld`) it stays, and stays what it is.
 */
export const useBanner = (isHeld: boolean) => {
  const [shown, setShown] = useState<ShownBanner>();
  const [next, setNext] = useState<ConversationId>();

  const put = (id: ConversationId) =>
    setShown((before) => ({
      id,
      at: before?.id === id ? before.at : performance.now(),
      revision: (before?.revision ?? 0) + 1,
    }));
  const close = () => setShown(undefined);

  useEffect(() => {
    if (!shown || isHeld) return;
    const timer = setTimeout(() => setShown(undefined), bannerDurationMs);
    return () => clearTimeout(timer);
  }, [shown, isHeld]);

  useEffect(() => {
    if (next === undefined || isHeld) return;
    const restMs = shown && shown.id !== next ? minShownMs - (performance.now() - shown.at) : 0;
    const timer = setTimeout(
      () => {
        put(next);
        setNext(undefined);
      },
      Math.max(0, restMs),
    );
    return () => clearTimeout(timer);
  });

  return { shown, show: setNext, close };
};
