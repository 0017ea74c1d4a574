/** What sounds now, if anything. Apart from the player, so that whoever wants quiet need not load it. */
let stopCurrentPlayback: (() => void) | undefined;

export const registerPlayback = (stopIt: (() => void) | undefined): void => {
  stopCurrentPlayback = stopIt;
};

/** Quiet: the chat is left, or somebody records. Where it stopped is where it goes on. */
export const stopPlayback = (): void => stopCurrentPlayback?.();
