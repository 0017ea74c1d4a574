import { playNote, type SoundNote, startSound } from "#lib/browser/sound.ts";

/** What is heard of a call besides voices; a tremble is felt only. All of it is made here: nothing is fetched. */
export type Tone = "ringback" | "ringtone" | "tremble" | "busy" | "none";

/** Notes that repeat every so many seconds; `times` when they stop by themselves. */
export type TonePattern = { notes: readonly SoundNote[]; periodSeconds: number; repeats?: number };

const networkToneHz = 425; // hertz; the tones of the French network (ITU-T E.180, supplement 2)

/** Four notes that rise and come back, soft enough for a quiet room, and a rest as long. */
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

export const tonePatterns: Record<Exclude<Tone, "tremble" | "none">, TonePattern> = {
  ringback: { notes: [{ at: 0, seconds: 1.5, pitches: [networkToneHz], level: 0.12 }], periodSeconds: 5 },
  busy: { notes: [{ at: 0, seconds: 0.5, pitches: [networkToneHz], level: 0.12 }], periodSeconds: 1, repeats: 4 },
  ringtone: { notes: melody, periodSeconds: 3 },
};

/** Milliseconds of trembling and rest, as long as a round of the ringtone. */
const vibrationPattern = [400, 200, 400, 2_000];
const unlockGestures = ["pointerup", "keydown", "touchend"] as const;

/** Ends what sounds now. */
let stopCurrentTone: (() => void) | undefined;

/** A pattern over and over, a round at a time: nothing is ahead of what stopping can take back. */
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
      return; // it would all sound at once, later
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

/** A page nobody touched may not sound: it does from the first touch or key on. */
const resumeOnGesture = (audio: AudioContext): (() => void) => {
  const wake = () => void audio.resume().catch(() => undefined);
  for (const gesture of unlockGestures) addEventListener(gesture, wake, { capture: true });
  return () => {
    for (const gesture of unlockGestures) removeEventListener(gesture, wake, { capture: true });
  };
};

const startVibration = (): (() => void) => {
  if (!("vibrate" in navigator)) return () => undefined;
  // Refused with a warning, and no more, where nobody touched the page yet.
  const shake = () => void (navigator.userActivation?.hasBeenActive !== false && navigator.vibrate(vibrationPattern));
  const timer = setInterval(
    shake,
    vibrationPattern.reduce((sum, ms) => sum + ms, 0),
  );
  shake();
  return () => {
    clearInterval(timer);
    navigator.vibrate(0);
  };
};

/** The one owner of these sounds: each takes the place of the one before, and "none" is silence. */
export const playTone = (tone: Tone): void => {
  stopCurrentTone?.();
  stopCurrentTone = undefined;
  if (tone === "none") return;
  const endings: (() => void)[] = tone === "ringtone" || tone === "tremble" ? [startVibration()] : [];
  const sound = tone === "tremble" ? undefined : startSound();
  if (tone !== "tremble" && sound) {
    const { audio, end } = sound;
    endings.push(resumeOnGesture(audio), repeatPattern(audio, tonePatterns[tone], end), end);
  }
  stopCurrentTone = () => {
    for (const end of endings) end();
  };
};
