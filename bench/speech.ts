import { makeWav, wavHeaderBytes } from "../scripts/wav.mjs";

const hertz = 48_000;
const seconds = 12; // Chromium plays it again and again
const syllablesPerSecond = 4;
const pitchHz = 125;

/** First and second formant of some vowels. */
const vowels = [
  [730, 1_090],
  [530, 1_840],
  [270, 2_290],
  [570, 840],
  [300, 870],
] as const;

/** A two-pole resonance, the way a mouth shapes a voice. */
const makeResonance = (bandHz: number) => {
  let [before, last] = [0, 0];
  return (input: number, centreHz: number): number => {
    const radius = Math.exp((-Math.PI * bandHz) / hertz);
    const output =
      (1 - radius) * input + 2 * radius * Math.cos((2 * Math.PI * centreHz) / hertz) * last - radius * radius * before;
    [before, last] = [last, output];
    return output;
  };
};

/**
 * A WAV for Chromium's make-believe microphone that keeps a codec as busy as speech: a pitch that moves, a vowel for
 * every syllable, hissing between some, and pauses for breath. The device's own beeps are nearly all silence.
 */
export function makeSpeech(): Buffer {
  const count = hertz * seconds;
  const wav = makeWav(hertz, count);
  const [first, second] = [makeResonance(80), makeResonance(110)];
  let phase = 0;
  let seed = 3;
  for (let n = 0; n < count; n++) {
    seed = (Math.imul(seed, 1_664_525) + 1_013_904_223) >>> 0;
    const hiss = seed / 2 ** 31 - 1;
    const at = (n / hertz) * syllablesPerSecond;
    const syllable = Math.floor(at);
    const within = at - syllable;
    const isBreath = syllable % 11 > 8;
    const [firstHz, secondHz] = vowels[(syllable * 7) % vowels.length] ?? vowels[0];
    phase += (pitchHz * (1 + 0.15 * Math.sin(n / 9_000) + 0.03 * Math.sin(n / 1_500))) / hertz;
    const pulse = 1 - 2 * (phase % 1) + hiss * 0.05;
    const isHissing = within < 0.2 && syllable % 3 === 0;
    const voice = isHissing ? hiss * 0.08 : (first(pulse, firstHz) + 0.6 * second(pulse, secondHz)) * 1.5;
    const loudness = isBreath ? 0.004 : Math.sin(Math.PI * Math.min(1, within * 1.15)) ** 0.6;
    wav.writeInt16LE(Math.round(Math.max(-1, Math.min(1, voice * loudness)) * 20_000), wavHeaderBytes + n * 2);
  }
  return wav;
}
