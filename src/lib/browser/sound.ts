let audioContext: AudioContext | undefined;
/** Sounds that are playing. The audio context is suspended when there are none. */
const activeSounds = new Set<object>();

/** One sound: start within its pattern and duration in seconds, pitches in hertz, loudness up to 1. */
export type SoundNote = { at: number; seconds: number; pitches: readonly number[]; level: number };

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

const fadeSeconds = 0.02; // an abrupt start or end is audible as a click

/** Plays a note; `from` is a time of the `audio` clock in seconds. */
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

/** Number of microphone recordings in progress, which would record the page's own sounds. */
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
