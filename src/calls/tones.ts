import { openSound } from "./sound";

/** What is heard of a call besides voices. All of it is made here: nothing is fetched. */
export type Tone = "ringback" | "ringtone" | "busy" | "none";

/** One sound: when it begins within its pattern, how long it lasts, its pitches in hertz and its loudness up to 1. */
export type Note = { at: number; seconds: number; pitches: readonly number[]; level: number };
/** Notes that repeat every so many seconds; `times` when they stop by themselves. */
export type Pattern = { notes: readonly Note[]; every: number; times?: number };

const tonePitch = 425; // hertz; the tones of the French network (ITU-T E.180, supplement 2)

/** Four notes that rise and come back, soft enough for a quiet room, and a rest as long. */
const melody = [659.25, 783.99, 987.77, 783.99].flatMap((pitch, index) =>
  [0, 1].map(
    (round): Note => ({
      at: round * 0.9 + index * 0.18,
      seconds: 0.34,
      pitches: [pitch, pitch * 2],
      level: 0.22,
    }),
  ),
);

export const patterns: Record<Exclude<Tone, "none">, Pattern> = {
  ringback: { notes: [{ at: 0, seconds: 1.5, pitches: [tonePitch], level: 0.12 }], every: 5 },
  busy: { notes: [{ at: 0, seconds: 0.5, pitches: [tonePitch], level: 0.12 }], every: 1, times: 4 },
  ringtone: { notes: melody, every: 3 },
};

/** Milliseconds of trembling and rest, as long as a round of the ringtone. */
const trembling = [400, 200, 400, 2_000];
const fadeSeconds = 0.02; // a sound that begins or ends at once clicks
const gestures = ["pointerup", "keydown", "touchend"] as const;

/** Ends what sounds now. */
let stop: (() => void) | undefined;
let hasSounded = false;

const play = (audio: AudioContext, out: GainNode, { at, seconds, pitches, level }: Note, from: number): void => {
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

/** A pattern over and over, a round at a time: nothing is ahead of what stopping can take back. */
const repeat = (audio: AudioContext, { notes, every, times }: Pattern): (() => void) => {
  const out = audio.createGain();
  out.connect(audio.destination);
  let rounds = 0;
  let timer: ReturnType<typeof setInterval> | undefined;
  const round = () => {
    if (audio.state !== "running") {
      void audio.resume().catch(() => undefined);
      return; // it would all sound at once, later
    }
    if (times !== undefined && rounds >= times) {
      clearInterval(timer);
      void audio.suspend();
      return;
    }
    rounds++;
    const from = audio.currentTime + 0.05;
    for (const note of notes) play(audio, out, note, from);
  };
  const begin = () => {
    if (audio.state !== "running" || timer !== undefined) return;
    timer = setInterval(round, every * 1_000);
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
const waitForGesture = (audio: AudioContext): (() => void) => {
  const wake = () => void audio.resume().catch(() => undefined);
  for (const gesture of gestures) addEventListener(gesture, wake, { capture: true });
  return () => {
    for (const gesture of gestures) removeEventListener(gesture, wake, { capture: true });
  };
};

const tremble = (): (() => void) => {
  if (!("vibrate" in navigator)) return () => undefined;
  // Refused with a warning, and no more, where nobody touched the page yet.
  const shake = () => void (navigator.userActivation?.hasBeenActive !== false && navigator.vibrate(trembling));
  const timer = setInterval(
    shake,
    trembling.reduce((sum, ms) => sum + ms, 0),
  );
  shake();
  return () => {
    clearInterval(timer);
    navigator.vibrate(0);
  };
};

/** The one owner of these sounds: each takes the place of the one before, and "none" is silence. */
export const playTone = (tone: Tone): void => {
  stop?.();
  stop = undefined;
  const audio = tone === "none" && !hasSounded ? undefined : openSound();
  if (tone === "none") {
    void audio?.suspend(); // its thread runs on in silence
    return;
  }
  hasSounded = true;
  const endings: (() => void)[] = tone === "ringtone" ? [tremble()] : [];
  if (audio) {
    void audio.resume().catch(() => undefined);
    endings.push(waitForGesture(audio), repeat(audio, patterns[tone]));
  }
  stop = () => {
    for (const end of endings) end();
  };
};
