let audioContext: AudioContext | undefined;
/** Sounds that are playing. The audio context is suspended when there are none. */
const activeSounds = new Set<object>();

/** Shared audio context of the page; undefined if the browser has none. */
const getAudioContext = (): AudioContext | undefined => {
  if (!audioContext && "AudioContext" in globalThis) audioContext = new AudioContext();
  return audioContext;
};

/**
 * Starts a sound: the returned context runs, or will once the page receives a gesture, until every started sound has
 * ended.
 */
export const startSound = (): { audio: AudioContext; end(): void } | undefined => {
  const audio = getAudioContext();
  if (!audio) return undefined;
  const sound = {};
  activeSounds.add(sound);
  void audio.resume().catch(() => undefined);
  return {
    audio,
    end() {
      if (activeSounds.delete(sound) && activeSounds.size === 0) void audio.suspend();
    },
  };
};

const unlockGestures = ["pointerup", "keydown"] as const;

/**
 * Safari allows sound only if it first started within a gesture: the first gesture starts the context silently.
 * Chromium allows sound on any page that was touched, and needs no audio thread before that.
 */
export const unlockSound = (): (() => void) => {
  if ("userAgentData" in navigator) return () => undefined;
  const removeListeners = () => {
    for (const gesture of unlockGestures) removeEventListener(gesture, unlock, { capture: true });
  };
  const unlock = () => {
    removeListeners();
    if (audioContext) return; // already running
    void getAudioContext()
      ?.resume()
      .then(
        () => void (activeSounds.size === 0 && audioContext?.suspend()),
        () => undefined,
      );
  };
  for (const gesture of unlockGestures) addEventListener(gesture, unlock, { capture: true });
  return removeListeners;
};
