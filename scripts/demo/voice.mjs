// Generated voice message: a few bars on a likembe.
import { makeWav, wavHeaderBytes } from "../wav.mjs";

const samplesPerSecond = 8_000;
const seconds = 6;
const bars = 48;
const digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"; // from silent to loud

/** Notes by start in seconds and pitch in hertz. */
const notes = [392, 494, 587, 494, 440, 523, 659, 523, 392, 587, 494, 440, 392].map((hertz, i) => ({
  at: 0.2 + i * 0.36 + (i % 4 === 3 ? 0.08 : 0),
  hertz,
}));

function getLevelAt(second) {
  let level = 0;
  for (const { at, hertz } of notes) {
    const since = second - at;
    if (since < 0 || since > 1.2) continue;
    const ring = Math.exp(-since * 5) * Math.min(1, since * 300);
    level += ring * (Math.sin(2 * Math.PI * hertz * since) + 0.35 * Math.sin(2 * Math.PI * hertz * 5.4 * since) * ring);
  }
  return level * 0.3;
}

/** Voice message as a WAV, with its waveform. */
export function renderLikembe() {
  const count = samplesPerSecond * seconds;
  const bytes = makeWav(samplesPerSecond, count);
  const loudest = new Array(bars).fill(0);
  for (let i = 0; i < count; i++) {
    const level = Math.max(-1, Math.min(1, getLevelAt(i / samplesPerSecond)));
    bytes.writeInt16LE(Math.round(level * 32_000), wavHeaderBytes + i * 2);
    const bar = Math.floor((i * bars) / count);
    loudest[bar] = Math.max(loudest[bar], Math.abs(level));
  }
  const peak = Math.max(...loudest);
  const waveform = loudest.map((level) => digits[Math.round((level / peak) * (digits.length - 1))]).join("");
  return { bytes, ms: seconds * 1000, waveform };
}
