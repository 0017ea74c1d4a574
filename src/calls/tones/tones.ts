import { startSound } from "#lib/media/sound.ts";
import { playNote, type SoundNote } from "#lib/media/sound-note.ts";

/** Sounds of a call besides the voices; `vibrate` makes no sound. Tones are synthesised, so nothing is fetched. */
export type Tone = "ringback" | "ringtone" | "vibrate" | "busy" | "none";

/** Notes repeated every `periodSeconds`, `repeats` times or until stopped. */
export type TonePattern = { notes: readonly SoundNote[]; periodSeconds: number; repeats?: number };

const networkToneHz = 425; // tones of the French network (ITU-T E.180, supplement 2)

/** Ringtone: four rising and falling notes, soft enough for a quiet room, and a rest of the same length. */
const melody = [659.25, 783.99, 987.77, 783.99].flatMap((pitch, index) =>
  [0, 1].map(
    (round): SoundNote => ({
      at: round * 0.9 + index * 0.18,
      seconds: 0.34,
      pitches: [pitch, pitch * 2],
      level: 0.22,
    }),
  ),
);

export const tonePatterns: Record<Exclude<Tone, "vibrate" | "none">, TonePattern> = {
  ringback: { notes: [{ at: 0, seconds: 1.5, pitches: [networkToneHz], level: 0.12 }], periodSeconds: 5 },
  busy: { notes: [{ at: 0, seconds: 0.5, pitches: [networkToneHz], level: 0.12 }], periodSeconds: 1, repeats: 4 },
  ringtone: { notes: melody, periodSeconds: 3 },
};

/** Milliseconds of vibration and pause, as long as a round of the ringtone. */
const vibrationPattern = [400, 200, 400, 2_000];
const unlockGestures = ["pointerup", "keydown", "touchend"] as const;

/** Stops the current tone. */
let stopCurrentTone: (() => void) | undefined;

/**
 * Repeats a pattern one round at a time, so that stopping never has to cancel later rounds. Returns a function that
 * stops it.
 */
const repeatPattern = (
  audio: AudioContext,
  { notes, periodSeconds, repeats }: TonePattern,
  onEnd: () => void,
): (() => void) => {
  const out = audio.createGain();
  out.connect(audio.destination);
  let rounds = 0;
  let timer: ReturnType<typeof setInterval> | undefined;
  const round = () => {
    if (audio.state !== "running") {
      void audio.resume().catch(() => undefined);
      return; // the notes would pile up and sound at once later
    }
    if (repeats !== undefined && rounds >= repeats) {
      clearInterval(timer);
      onEnd();
      return;
    }
    rounds++;
    const from = audio.currentTime + 0.05;
    for (const note of notes) playNote(audio, out, note, from);
  };
  const begin = () => {
    if (audio.state !== "running" || timer !== undefined) return;
    timer = setInterval(round, periodSeconds * 1_000);
    round();
  };
  audio.addEventListener("statechange", begin);
  begin();
  return () => {
    audio.removeEventListener("statechange", begin);
    clearInterval(timer);
    out.disconnect();
  };
};

/** Resumes audio at the first tap or key, because browsers block sound on an untouched page. */
const resumeOnGesture = (audio: AudioContext): (() => void) => {
  const wake = () => void audio.resume().catch(() => undefined);
  for (const gesture of unlockGestures) addEventListener(gesture, wake, { capture: true });
  return () => {
    for (const gesture of unlockGestures) removeEventListener(gesture, wake, { capture: true });
  };
};

const startVibration = (): (() => void) => {
  if (!("vibrate" in navigator)) return () => undefined;
  // An untouched page may not vibrate; the browser would log a warning.
  const vibrate = () => void (navigator.userActivation?.hasBeenActive !== false && navigator.vibrate(vibrationPattern));
  const timer = setInterval(
    vibrate,
    vibrationPattern.reduce((sum, ms) => sum + ms, 0),
  );
  vibrate();
  return () => {
    clearInterval(timer);
    navigator.vibrate(0);
  };
};

/** Plays a tone in place of the current one; "none" is silence. */
export const playTone = (tone: Tone): void => {
  stopCurrentTone?.();
  stopCurrentTone = undefined;
  if (tone === "none") return;
  const endings: (() => void)[] = tone === "ringtone" || tone === "vibrate" ? [startVibration()] : [];
  const sound = tone === "vibrate" ? undefined : startSound();
  if (tone !== "vibrate" && sound) {
    const { audio, end } = sound;
    endings.push(resumeOnGesture(audio), repeatPattern(audio, tonePatterns[tone], end), end);
  }
  stopCurrentTone = () => {
    for (const end of endings) end();
  };
};
