import { useEffect, useState } from "react";
import type { ConversationId } from "#contract/ids.ts";

const bannerDurationMs = 4_000;
const minShownMs = 1_200; // a banner is not replaced while it is being read or tapped

type ShownBanner = { id: ConversationId; at: number; revision: number };

/**
 * Conversation shown in the banner: one at a time, until four seconds after its newest message. While the user
 * interacts with the banner (`isHeld`) it stays unchanged.
 */
export const useBanner = (isHeld: boolean) => {
  const [shown, setShown] = useState<ShownBanner>();
  const [next, setNext] = useState<ConversationId>();

  const display = (id: ConversationId) =>
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
        display(next);
        setNext(undefined);
      },
      Math.max(0, restMs),
    );
    return () => clearTimeout(timer);
  });

  return { shown, show: setNext, close };
};
