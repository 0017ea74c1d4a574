const tapMs = 300;
const cancelPx = 96;
const lockPx = 72;

/** Where a finger that holds the microphone has gone: up locks the recording, towards the trash gives it up. */
export const pullOf = (dx: number, dy: number): "none" | "lock" | "cancel" => {
  if (-dy > lockPx && -dy > -dx) return "lock";
  return -dx > cancelPx ? "cancel" : "none";
};

/** A press so short was no holding: it asks for a recording that goes on by itself. */
export const isTap = (heldMs: number): boolean => heldMs < tapMs;
