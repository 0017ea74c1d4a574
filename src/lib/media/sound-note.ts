/** One sound: start within its pattern and duration in seconds, pitches in hertz, loudness up to 1. */
export type SoundNote = { at: number; seconds: number; pitches: readonly number[]; level: number };

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
