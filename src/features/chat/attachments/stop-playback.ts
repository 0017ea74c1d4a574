/** What sounds now, if anything. Apart from the player, so that whoever wants quiet need not load it. */
let stop: (() => void) | undefined;

export const setPlaying = (stopIt: (() => void) | undefined): void => {
  stop = stopIt;
};

/** Quiet: the chat is left, or somebody records. Where it stopped is where it goes on. */
export const stopPlaying = (): void => stop?.();
