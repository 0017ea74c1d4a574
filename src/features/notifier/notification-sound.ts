import { playNote, type SoundNote, startSound } from "#lib/browser/sound.ts";

/** Two soft notes that rise, made here: nothing is fetched. */
export const chimeNotes: readonly SoundNote[] = [
  { at: 0, seconds: 0.16, pitches: [784, 1_568], level: 0.12 },
  { at: 0.1, seconds: 0.28, pitches: [1_046.5, 2_093], level: 0.12 },
];
const resumeTimeoutMs = 600; // later than this it would be of something else
const leadSeconds = 0.03;
const chimeDurationMs = 500; // the whole of it, and a little

/** A page nobody touched may not sound. */
export const canPlayChime = (): boolean => navigator.userActivation?.hasBeenActive !== false;

const delay = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** Sounds once, or not at all where that would take a while. */
export const playChime = async (): Promise<void> => {
  const sound = startSound();
  if (!sound) return;
  const { audio, end } = sound;
  if (audio.state !== "running") await Promise.race([audio.resume().catch(() => undefined), delay(resumeTimeoutMs)]);
  if (audio.state === "running") {
    const from = audio.currentTime + leadSeconds;
    for (const note of chimeNotes) playNote(audio, audio.destination, note, from);
    await delay(chimeDurationMs);
  }
  end();
};
