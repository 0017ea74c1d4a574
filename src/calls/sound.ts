let context: AudioContext | undefined;

/** What a page sounds by, one for all of its life; undefined where a browser has none. */
export const openSound = (): AudioContext | undefined => {
  if (!context && "AudioContext" in globalThis) context = new AudioContext();
  return context;
};

const gestures = ["pointerup", "keydown"] as const;

/**
 * Where a page may only sound if it began to within a gesture (Safari), the first one is used for that, in silence.
 * Chromium lets any page sound that was ever touched, and needs no audio thread before there is something to hear.
 */
export const unlockSound = (): (() => void) => {
  if ("userAgentData" in navigator) return () => undefined;
  const leave = () => {
    for (const gesture of gestures) removeEventListener(gesture, unlock, { capture: true });
  };
  const unlock = () => {
    leave();
    if (context) return; // something sounds already
    void openSound()
      ?.resume()
      .then(
        () => context?.suspend(),
        () => undefined,
      );
  };
  for (const gesture of gestures) addEventListener(gesture, unlock, { capture: true });
  return leave;
};
