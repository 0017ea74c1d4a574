import { inCall } from "#calls/call-state.ts";
import type { Uuid } from "#contract/ids.ts";
import { setPlaying } from "./stop-playback.ts";

/** How a voice note stands: how far it was heard, and what it does. */
export type VoiceView = { state: "still" | "loading" | "playing" | "failed"; ms: number };

const still: VoiceView = { state: "still", ms: 0 };
const rates = [1, 1.5, 2] as const;
export type Rate = (typeof rates)[number];

const views = new Map<Uuid, VoiceView>();
const listeners = new Set<() => void>();
let rate: Rate = 1;

type Track = {
  file: Uuid;
  ms: number;
  /** Keeps the address of the local copy good until the answer is called. */
  hold: () => (() => void) | undefined;
  onEnded: () => void;
};
let current: Track | undefined;
let release: (() => void) | undefined;
let audio: HTMLAudioElement | undefined;
// Set while the sound is on its way to a place: until it is there it reports the place it left.
let wantedMs: number | undefined;

const emit = (): void => {
  for (const listener of [...listeners]) listener();
};
const show = (file: Uuid, change: Partial<VoiceView>): void => {
  views.set(file, { ...getVoice(file), ...change });
  emit();
};

export const subscribeVoice = (listener: () => void): (() => void) => {
  listeners.add(listener);
  return () => listeners.delete(listener);
};
export const getVoice = (file: Uuid): VoiceView => views.get(file) ?? still;
export const getRate = (): Rate => rate;

const msOf = (element: HTMLAudioElement): number => Math.round(element.currentTime * 1_000);

const goTo = (element: HTMLAudioElement, ms: number): void => {
  wantedMs = ms;
  if (element.readyState > 0) element.currentTime = ms / 1_000;
};

/** One for the whole app: a second voice would talk over the first. */
const getAudio = (): HTMLAudioElement => {
  if (audio) return audio;
  const element = new Audio();
  audio = element;
  inCall.subscribe(() => inCall.get() && element.pause());
  const on = (type: string, does: (track: Track) => void) =>
    element.addEventListener(type, () => current && element.src !== "" && does(current));
  on("loadedmetadata", () => wantedMs !== undefined && goTo(element, wantedMs));
  on("seeked", () => {
    wantedMs = undefined;
  });
  on("playing", ({ file }) => show(file, { state: "playing" }));
  on("waiting", ({ file }) => !element.paused && show(file, { state: "loading" }));
  on("timeupdate", ({ file, ms }) => {
    if (wantedMs === undefined && !element.ended) show(file, { ms: Math.min(ms, msOf(element)) });
  });
  on("pause", ({ file }) => {
    if (getVoice(file).state !== "failed") show(file, { state: "still" });
  });
  on("ended", ({ file, onEnded }) => {
    wantedMs = undefined;
    show(file, still);
    onEnded();
  });
  on("error", ({ file }) => {
    current = undefined;
    show(file, { state: "failed" });
  });
  return element;
};

export const pauseVoice = (): void => audio?.pause();

/**
 * Plays a voice note from where it was left, and stops any other. `source` is the address of the local copy or
 * of the server's. What goes wrong shows as `failed`; it begins again when asked again.
 */
export const playVoice = async (track: Track, source: string): Promise<void> => {
  const element = getAudio();
  const { file } = track;
  if (current?.file !== file) {
    if (current) {
      element.pause();
      show(current.file, { state: "still" });
    }
    release?.();
    release = track.hold();
    element.src = source;
    wantedMs = getVoice(file).ms || undefined;
  }
  current = track;
  show(file, { state: "loading" });
  setPlaying(pauseVoice);
  element.playbackRate = rate;
  try {
    await element.play();
    element.playbackRate = rate; // some browsers forget it with a new source
  } catch (error) {
    if (current?.file !== file) return;
    const name = error instanceof DOMException ? error.name : "";
    // A pause or another note came first; or the browser wants one more tap.
    if (name === "AbortError" || name === "NotAllowedError") show(file, { state: "still" });
    else {
      current = undefined;
      show(file, { state: "failed" });
    }
  }
};

/** Goes to a place, also before it was ever played. */
export const seekVoice = (file: Uuid, ms: number): void => {
  show(file, { ms });
  if (current?.file === file && audio) goTo(audio, ms);
};

/** 1×, 1.5×, 2× and round again, for every note from now on. */
export const changeRate = (): void => {
  rate = rates[(rates.indexOf(rate) + 1) % rates.length] ?? 1;
  if (audio) audio.playbackRate = rate;
  emit();
};
