import { inCall } from "#calls/call-state.ts";
import type { Uuid } from "#contract/ids.ts";
import { currentEngine } from "#sync/engine/engine.ts";
import { currentVoice, type VoiceTrack } from "./current-voice.ts";

/** Playback state and position of a voice message. */
export type VoicePlayback = { state: "idle" | "loading" | "playing" | "failed"; ms: number };

const idlePlayback: VoicePlayback = { state: "idle", ms: 0 };
const playbackRates = [1, 1.5, 2] as const;
export type PlaybackRate = (typeof playbackRates)[number];

const playbacks = new Map<Uuid, VoicePlayback>();
const listeners = new Set<() => void>();
let playbackRate: PlaybackRate = 1;

type PlayedTrack = VoiceTrack & {
  /** Keeps the object URL of the local copy valid until the returned function is called. */
  retainSource: () => (() => void) | undefined;
  onEnded: () => void;
};
let current: PlayedTrack | undefined;
let releaseSource: (() => void) | undefined;
let audio: HTMLAudioElement | undefined;
// Set during a seek: until it completes, the element reports the previous position.
let seekTargetMs: number | undefined;

const setCurrent = (track: PlayedTrack | undefined): void => {
  current = track;
  currentVoice.set(track);
};

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

/** The only audio element of the app, so that two voice messages never play at once. */
const getAudioElement = (): HTMLAudioElement => {
  if (audio) return audio;
  const element = new Audio();
  audio = element;
  inCall.subscribe(() => inCall.get() && element.pause());
  currentEngine.subscribe(closeVoice); // the person signed out
  const on = (type: string, handler: (track: PlayedTrack) => void) =>
    element.addEventListener(type, () => current && element.src !== "" && handler(current));
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
    if (getVoicePlayback(file).state !== "failed") updatePlayback(file, { state: "idle" });
  });
  on("ended", ({ file, onEnded }) => {
    seekTargetMs = undefined;
    updatePlayback(file, idlePlayback);
    currentVoice.set(undefined);
    onEnded();
  });
  on("error", ({ file }) => {
    setCurrent(undefined);
    updatePlayback(file, { state: "failed" });
  });
  return element;
};

export const pauseVoice = (): void => audio?.pause();

/** Ends the playback. The message continues from the same position when it is played again. */
export const closeVoice = (): void => {
  pauseVoice();
  currentVoice.set(undefined);
};

/**
 * Plays a voice message from its last position and stops any other. `source` is the URL of the local copy or of the
 * server's file. Errors set the state `failed`; another call tries again.
 */
export const playVoice = async (track: PlayedTrack, source: string): Promise<void> => {
  const element = getAudioElement();
  const { file } = track;
  if (current?.file !== file) {
    if (current) {
      element.pause();
      updatePlayback(current.file, { state: "idle" });
    }
    releaseSource?.();
    releaseSource = track.retainSource();
    element.src = source;
    seekTargetMs = getVoicePlayback(file).ms || undefined;
  }
  setCurrent(track);
  updatePlayback(file, { state: "loading" });
  element.playbackRate = playbackRate;
  try {
    await element.play();
    element.playbackRate = playbackRate; // some browsers reset it for a new source
  } catch (error) {
    if (current?.file !== file) return;
    const name = error instanceof DOMException ? error.name : "";
    // Interrupted by a pause or another message, or the browser requires a user gesture.
    if (name === "AbortError" || name === "NotAllowedError") updatePlayback(file, { state: "idle" });
    else {
      setCurrent(undefined);
      updatePlayback(file, { state: "failed" });
    }
  }
};

/** Continues the message that was paused. */
export const resumeVoice = (): void => {
  if (current && audio) void playVoice(current, audio.src);
};

/** Sets the position of a voice message, also before it was played. */
export const seekVoice = (file: Uuid, ms: number): void => {
  updatePlayback(file, { ms });
  if (current?.file === file && audio) seekElement(audio, ms);
};

/** Switches the rate of all voice messages: 1×, 1.5×, 2×, 1×, … */
export const cyclePlaybackRate = (): void => {
  playbackRate = playbackRates[(playbackRates.indexOf(playbackRate) + 1) % playbackRates.length] ?? 1;
  if (audio) audio.playbackRate = playbackRate;
  notifyPlaybackListeners();
};
