import { inCall } from "#calls/call-state.ts";
import type { Uuid } from "#contract/ids.ts";
import { registerPlayback } from "./stop-playback.ts";

/** How a voice note stands: how far it was heard, and what it does. */
export type VoicePlayback = { state: "still" | "loading" | "playing" | "failed"; ms: number };

const idlePlayback: VoicePlayback = { state: "still", ms: 0 };
const playbackRates = [1, 1.5, 2] as const;
export type PlaybackRate = (typeof playbackRates)[number];

const playbacks = new Map<Uuid, VoicePlayback>();
const listeners = new Set<() => void>();
let playbackRate: PlaybackRate = 1;

type VoiceTrack = {
  file: Uuid;
  ms: number;
  /** Keeps the address of the local copy good until the answer is called. */
  retainSource: () => (() => void) | undefined;
  onEnded: () => void;
};
let current: VoiceTrack | undefined;
let releaseSource: (() => void) | undefined;
let audio: HTMLAudioElement | undefined;
// Set while the sound is on its way to a place: until it is there it reports the place it left.
let seekTargetMs: number | undefined;

const notifyPlaybackListeners = (): void => {
  for (const listener of [...listeners]) listener();
};
const updatePlayback = (file: Uuid, change: Partial<VoicePlayback>): void => {
  playbacks.set(file, { ...getVoicePlayback(file), ...change });
  notifyPlaybackListeners();
};

export const subscribeToVoicePlayback = (listener: () => void): (() => void) => {
  listeners.add(listener);
  return () => listeners.delete(listener);
};
export const getVoicePlayback = (file: Uuid): VoicePlayback => playbacks.get(file) ?? idlePlayback;
export const getPlaybackRate = (): PlaybackRate => playbackRate;

const getPositionMs = (element: HTMLAudioElement): number => Math.round(element.currentTime * 1_000);

const seekElement = (element: HTMLAudioElement, ms: number): void => {
  seekTargetMs = ms;
  if (element.readyState > 0) element.currentTime = ms / 1_000;
};

/** One for the whole app: a second voice would talk over the first. */
const getAudioElement = (): HTMLAudioElement => {
  if (audio) return audio;
  const element = new Audio();
  audio = element;
  inCall.subscribe(() => inCall.get() && element.pause());
  const on = (type: string, does: (track: VoiceTrack) => void) =>
    element.addEventListener(type, () => current && element.src !== "" && does(current));
  on("loadedmetadata", () => seekTargetMs !== undefined && seekElement(element, seekTargetMs));
  on("seeked", () => {
    seekTargetMs = undefined;
  });
  on("playing", ({ file }) => updatePlayback(file, { state: "playing" }));
  on("waiting", ({ file }) => !element.paused && updatePlayback(file, { state: "loading" }));
  on("timeupdate", ({ file, ms }) => {
    if (seekTargetMs === undefined && !element.ended)
      updatePlayback(file, { ms: Math.min(ms, getPositionMs(element)) });
  });
  on("pause", ({ file }) => {
    if (getVoicePlayback(file).state !== "failed") updatePlayback(file, { state: "still" });
  });
  on("ended", ({ file, onEnded }) => {
    seekTargetMs = undefined;
    updatePlayback(file, idlePlayback);
    onEnded();
  });
  on("error", ({ file }) => {
    current = undefined;
    updatePlayback(file, { state: "failed" });
  });
  return element;
};

export const pauseVoice = (): void => audio?.pause();

/**
 * Plays a voice note from where it was left, and stops any other. `source` is the address of the local copy or
 * of the server's. What goes wrong shows as `failed`; it begins again when asked again.
 */
export const playVoice = async (track: VoiceTrack, source: string): Promise<void> => {
  const element = getAudioElement();
  const { file } = track;
  if (current?.file !== file) {
    if (current) {
      element.pause();
      updatePlayback(current.file, { state: "still" });
    }
    releaseSource?.();
    releaseSource = track.retainSource();
    element.src = source;
    seekTargetMs = getVoicePlayback(file).ms || undefined;
  }
  current = track;
  updatePlayback(file, { state: "loading" });
  registerPlayback(pauseVoice);
  element.playbackRate = playbackRate;
  try {
    await element.play();
    element.playbackRate = playbackRate; // some browsers forget it with a new source
  } catch (error) {
    if (current?.file !== file) return;
    const name = error instanceof DOMException ? error.name : "";
    // A pause or another note came first; or the browser wants one more tap.
    if (name === "AbortError" || name === "NotAllowedError") updatePlayback(file, { state: "still" });
    else {
      current = undefined;
      updatePlayback(file, { state: "failed" });
    }
  }
};

/** Goes to a place, also before it was ever played. */
export const seekVoice = (file: Uuid, ms: number): void => {
  updatePlayback(file, { ms });
  if (current?.file === file && audio) seekElement(audio, ms);
};

/** 1×, 1.5×, 2× and round again, for every note from now on. */
export const cyclePlaybackRate = (): void => {
  playbackRate = playbackRates[(playbackRates.indexOf(playbackRate) + 1) % playbackRates.length] ?? 1;
  if (audio) audio.playbackRate = playbackRate;
  notifyPlaybackListeners();
};
