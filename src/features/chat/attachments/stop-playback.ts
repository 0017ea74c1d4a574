/** Stops the current playback. Kept apart from the player, so that callers need not load its code. */
let stopCurrentPlayback: (() => void) | undefined;

export const registerPlayback = (stop: (() => void) | undefined): void => {
  stopCurrentPlayback = stop;
};

/** Pauses playback, e.g. when the chat is left. It continues from the same position later. */
export const stopPlayback = (): void => stopCurrentPlayback?.();
