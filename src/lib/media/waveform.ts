import { waveformBars } from "#contract/limits/files.ts";

const firstSlotMs = 100;
const slotsMax = 512; // resolution limit, independent of the duration

/** Loudness of a recording over time, 0 to 1. Bounded: when it is full, neighbouring slots are merged. */
export class LevelTrack {
  #slotMs = firstSlotMs;
  #slots: number[] = [];

  /** Records the level at `ms`. Gaps after late timers (an invisible page) are filled. */
  record(ms: number, level: number): void {
    let slot = Math.floor(ms / this.#slotMs);
    while (slot >= slotsMax) {
      this.#halve();
      slot = Math.floor(ms / this.#slotMs);
    }
    while (this.#slots.length < slot) this.#slots.push(this.#slots.at(-1) ?? 0);
    this.#slots[slot] = Math.max(this.#slots[slot] ?? 0, Math.min(1, Math.max(0, level)));
  }

  get levels(): number[] {
    return [...this.#slots];
  }

  #halve(): void {
    const pairs = Math.ceil(this.#slots.length / 2);
    this.#slots = Array.from({ length: pairs }, (_, at) =>
      Math.max(this.#slots[2 * at] ?? 0, this.#slots[2 * at + 1] ?? 0),
    );
    this.#slotMs *= 2;
  }
}

const silenceDb = -55;
const loudDb = -12;

/** Perceived loudness of a root mean square: 0 for a quiet room, 1 for a loud voice. */
export const toLoudness = (rms: number): number =>
  Math.min(1, Math.max(0, (20 * Math.log10(Math.max(rms, 1e-6)) - silenceDb) / (loudDb - silenceDb)));

const digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
const amplifyMax = 1.6; // a quiet voice still shows its shape, while silence stays flat

/** Waveform as `waveformBars` base64url digits (RFC 4648 §5), from A (silent) to _ (loud); empty without samples. */
export const toWaveform = (levels: readonly number[]): string => {
  if (levels.length === 0) return "";
  const peak = Math.max(...levels);
  const gain = peak > 0 ? Math.min(1 / peak, amplifyMax) : 1;
  return Array.from({ length: waveformBars }, (_, bar) => {
    const from = Math.floor((bar * levels.length) / waveformBars);
    const to = Math.max(from + 1, Math.floor(((bar + 1) * levels.length) / waveformBars));
    return digits[Math.round(Math.min(1, Math.max(...levels.slice(from, to)) * gain) * (digits.length - 1))];
  }).join("");
};
