import { sleep } from "#lib/browser/time/sleep.ts";
import { startSound } from "#lib/media/sound.ts";
import { playNote, type SoundNote } from "#lib/media/sound-note.ts";

/** Two soft rising notes, synthesized so that no file is fetched. */
export const chimeNotes: readonly SoundNote[] = [
  { at: 0, seconds: 0.16, pitches: [784, 1_568], level: 0.12 },
  { at: 0.1, seconds: 0.28, pitches: [1_046.5, 2_093], level: 0.12 },
];
const resumeTimeoutMs = 600; // a later sound would seem unrelated to its message
const leadSeconds = 0.03;
const chimeDurationMs = 500; // length of the notes plus a margin

/** False before the first user activation: browsers block audio until then. */
export const canPlayChime = (): boolean => navigator.userActivation?.hasBeenActive !== false;

/** Plays the chime once, or not at all if audio does not resume within `resumeTimeoutMs`. */
export const playChime = async (): Promise<void> => {
  const sound = startSound();
  if (!sound) return;
  const { audio, end } = sound;
  if (audio.state !== "running") await Promise.race([audio.resume().catch(() => undefined), sleep(resumeTimeoutMs)]);
  if (audio.state === "running") {
    const from = audio.currentTime + leadSeconds;
    for (const note of chimeNotes) playNote(audio, audio.destination, note, from);
    await sleep(chimeDurationMs);
  }
  end();
};
