import { inCall } from "#calls/call-state.ts";
import { showToast } from "#components/overlays/toast.tsx";
import type { Uuid } from "#contract/ids.ts";
import { t } from "#i18n/setup.ts";
import { getCachedFile } from "#sync/actions/cached-files.ts";
import { currentEngine } from "#sync/engine/engine.ts";
import type { CachedFile } from "#sync/files/object-urls.ts";
import type { FailureCode } from "#sync/platform/sync-error.ts";
import { currentVoice, type VoiceTrack } from "./current-voice.ts";

/** Playback state and position of a voice message. */
export type VoicePlayback = { state: "idle" | "loading" | "playing"; ms: number };

const idlePlayback: VoicePlayback = { state: "idle", ms: 0 };
const playbackRates = [1, 1.5, 2] as const;
export type PlaybackRate = (typeof playbackRates)[number];

const playbacks = new Map<Uuid, VoicePlayback>();
const listeners = new Set<() => void>();
let playbackRate: PlaybackRate = 1;

let current: VoiceTrack | undefined;
/** File of the current message. Its object URL is valid until `releaseFile` is called. */
let file: CachedFile | undefined;
let releaseFile = (): void => {};
/** The current message plays as soon as its file is loaded. */
let isAwaited = false;
let audio: HTMLAudioElement | undefined;
// Set during a seek: until it completes, the element reports the previous position.
let seekTargetMs: number | undefined;

const notifyPlaybackListeners = (): void => {
  for (const listener of [...listeners]) listener();
};
const updatePlayback = ({ body }: VoiceTrack, change: Partial<VoicePlayback>): void => {
  playbacks.set(body.file, { ...getVoicePlayback(body.file), ...change });
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
  inCall.subscribe(() => inCall.get() && pauseVoice());
  currentEngine.subscribe(closeVoice); // the person signed out
  const on = (type: string, handler: (track: VoiceTrack) => void) =>
    element.addEventListener(type, () => current && element.src !== "" && handler(current));
  on("loadedmetadata", () => seekTargetMs !== undefined && seekElement(element, seekTargetMs));
  on("seeked", () => {
    seekTargetMs = undefined;
  });
  on("playing", (track) => updatePlayback(track, { state: "playing" }));
  on("waiting", (track) => !element.paused && updatePlayback(track, { state: "loading" }));
  on("timeupdate", (track) => {
    if (seekTargetMs === undefined && !element.ended)
      updatePlayback(track, { ms: Math.min(track.body.ms, getPositionMs(element)) });
  });
  on("pause", (track) => updatePlayback(track, { state: "idle" }));
  on("ended", (track) => {
    seekTargetMs = undefined;
    updatePlayback(track, idlePlayback);
    currentVoice.set(undefined);
    file?.load(track.conversation); // a streamed message, for the next time and for offline use
  });
  on("error", () => failPlayback());
  return element;
};

const clearElement = (element: HTMLAudioElement): void => {
  element.removeAttribute("src");
  element.load(); // also drops events of the previous source
};

/** Ends the playback with a message to the person. Another call of `playVoice` tries again. */
const failPlayback = (error?: FailureCode): void => {
  if (!current || !audio) return;
  isAwaited = false;
  updatePlayback(current, { state: "idle" });
  currentVoice.set(undefined);
  clearElement(audio);
  const message = t(error === "offline" ? "errors.offline" : "messages.voiceFailed");
  showToast({ tone: "danger", title: t("common.error"), message });
};

export const pauseVoice = (): void => {
  audio?.pause();
  if (!isAwaited || !current) return;
  isAwaited = false;
  updatePlayback(current, { state: "idle" });
};

/** Ends the playback. The message continues from the same position when it is played again. */
export const closeVoice = (): void => {
  pauseVoice();
  currentVoice.set(undefined);
};

const selectTrack = (element: HTMLAudioElement, track: VoiceTrack): void => {
  if (current?.body.file !== track.body.file) {
    pauseVoice();
    if (current) updatePlayback(current, { state: "idle" });
    clearElement(element);
    releaseFile();
    file = getCachedFile(track.body);
    releaseFile = file?.subscribe(playLoadedFile) ?? (() => {});
  }
  current = track;
  currentVoice.set(track);
};

const playElement = async (element: HTMLAudioElement, track: VoiceTrack, source: string): Promise<void> => {
  isAwaited = false;
  if (element.src === "") {
    element.src = source;
    seekTargetMs = getVoicePlayback(track.body.file).ms || undefined;
  }
  element.playbackRate = playbackRate;
  try {
    await element.play();
    element.playbackRate = playbackRate; // some browsers reset it for a new source
  } catch (error) {
    if (current?.body.file !== track.body.file) return;
    const name = error instanceof DOMException ? error.name : "";
    // Interrupted by a pause, or the browser requires a user gesture. Other errors are reported by their event.
    if (name === "AbortError" || name === "NotAllowedError") updatePlayback(track, { state: "idle" });
  }
};

/** Plays the current message once its file is on the device. */
const playLoadedFile = (): void => {
  if (!isAwaited || !current || !audio || !file) return;
  const { url, state, error } = file.get();
  if (url) void playElement(audio, current, url);
  else if (state === "failed") failPlayback(error);
};

/**
 * Plays a voice message from its last position and stops any other. It is loaded before, unless `streamPath` names the
 * file on the server to play while it arrives.
 */
export const playVoice = (track: VoiceTrack, streamPath?: string): void => {
  const element = getAudioElement();
  selectTrack(element, track);
  updatePlayback(track, { state: "loading" });
  const source = element.src || file?.get().url || streamPath;
  if (source) void playElement(element, track, source);
  else {
    isAwaited = true;
    file?.load(track.conversation);
  }
};

/** Continues the message that was paused. */
export const resumeVoice = (): void => {
  if (current) playVoice(current);
};

/** Sets the position of a voice message, also before it was played. */
export const seekVoice = (track: VoiceTrack, ms: number): void => {
  updatePlayback(track, { ms });
  if (current?.body.file === track.body.file && audio) seekElement(audio, ms);
};

/** Switches the rate of all voice messages: 1×, 1.5×, 2×, 1×, … */
export const cyclePlaybackRate = (): void => {
  playbackRate = playbackRates[(playbackRates.indexOf(playbackRate) + 1) % playbackRates.length] ?? 1;
  if (audio) audio.playbackRate = playbackRate;
  notifyPlaybackListeners();
};
