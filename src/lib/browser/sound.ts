let audioContext: AudioContext | undefined;
/** What sounds now. The context's thread runs only for that. */
const activeSounds = new Set<object>();

/** One sound: when it begins within its pattern, how long it lasts, its pitches in hertz and its loudness up to 1. */
export type SoundNote = { at: number; seconds: number; pitches: readonly number[]; level: number };

/** The one context of this page's sounds, for all of its life; undefined where a browser has none. */
const getAudioContext = (): AudioContext | undefined => {
  if (!audioContext && "AudioContext" in globalThis) audioContext = new AudioContext();
  return audioContext;
};

/** Something is about to sound: `audio` runs, or will once the page is touched, until all that began has ended. */
export const startSound = (): { audio: AudioContext; end(): void } | undefined => {
  const audio = getAudioContext();
  if (!audio) return undefined;
  const one = {};
  activeSounds.add(one);
  void audio.resume().catch(() => undefined);
  return {
    audio,
    end() {
      if (activeSounds.delete(one) && activeSounds.size === 0) void audio.suspend();
    },
  };
};

const fadeSeconds = 0.02; // a sound that begins or ends at once clicks

/** `from` by the clock of `audio`, in seconds. */
export const playNote = (audio: AudioContext, out: AudioNode, note: SoundNote, from: number): void => {
  const { at, seconds, pitches, level } = note;
  const volume = audio.createGain();
  const start = from + at;
  volume.gain.setValueAtTime(0, start);
  volume.gain.linearRampToValueAtTime(level, start + fadeSeconds);
  volume.gain.setValueAtTime(level, start + seconds - fadeSeconds);
  volume.gain.linearRampToValueAtTime(0, start + seconds);
  volume.connect(out);
  pitches.forEach((pitch, index) => {
    const oscillator = audio.createOscillator();
    oscillator.frequency.value = pitch;
    const share = audio.createGain();
    share.gain.value = 1 / (index + 1) / pitches.length;
    oscillator.connect(share).connect(volume);
    oscillator.start(start);
    oscillator.stop(start + seconds);
  });
};

/** How many record what the microphone hears: it would hear this page's own sounds too. */
let recordingCount = 0;
export const isRecording = (): boolean => recordingCount > 0;
export const trackRecording = (): (() => void) => {
  recordingCount++;
  return () => {
    recordingCount--;
  };
};

const unlockGestures = ["pointerup", "keydown"] as const;

/**
 * Where a page may only sound if it began to within a gesture (Safari), the first one is used for that, in silence.
 * Chromium lets any page sound that was ever touched, and needs no audio thread before there is something to hear.
 */
export const unlockSound = (): (() => void) => {
  if ("userAgentData" in navigator) return () => undefined;
  const leave = () => {
    for (const gesture of unlockGestures) removeEventListener(gesture, unlock, { capture: true });
  };
  const unlock = () => {
    leave();
    if (audioContext) return; // something sounds already
    void getAudioContext()
      ?.resume()
      .then(
        () => void (activeSounds.size === 0 && audioContext?.suspend()),
        () => undefined,
      );
  };
  for (const gesture of unlockGestures) addEventListener(gesture, unlock, { capture: true });
  return leave;
};
