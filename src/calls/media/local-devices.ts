import { videoSizes } from "#calls/quality/quality-ladder.ts";
import type { MediaPreferences } from "./media-preferences.ts";
import type { CaptureError } from "./media-session.ts";

type MediaKind = "audio" | "video";
/** `resting`: let go for as long as nothing of it is sent. */
type LocalDeviceState = "off" | "resting" | "waiting" | "on" | CaptureError;
type LocalDevice = {
  getState: LocalDeviceState;
  getTrack: MediaStreamTrack | undefined;
  selectedId: string | undefined;
  generation: number;
};

const toCaptureError = (error: unknown): CaptureError => {
  const name = error instanceof DOMException || error instanceof Error ? error.name : "";
  if (name === "NotAllowedError" || name === "SecurityError") return "refused";
  return name === "NotReadableError" || name === "AbortError" ? "taken" : "missing";
};

const toTrackConstraints = (kind: MediaKind, chosen: string | undefined, isThrifty: boolean): MediaTrackConstraints => {
  const device = chosen === undefined ? {} : { deviceId: { exact: chosen } };
  if (kind === "audio") {
    return { ...device, channelCount: 1, echoCancellation: true, noiseSuppression: true, autoGainControl: true };
  }
  const { width, height, framesPerSecond } = isThrifty ? videoSizes.small : videoSizes.medium;
  return {
    ...device,
    ...(chosen === undefined && { facingMode: "user" }),
    width: { ideal: width },
    height: { ideal: height },
    frameRate: { ideal: framesPerSecond, max: 30 },
  };
};

/** This device's microphone and camera in a call: asked for, chosen, lost and found again. */
export class LocalDevices {
  readonly #isDataSaver: boolean;
  readonly #changed: () => void;
  readonly #devices: Record<MediaKind, LocalDevice> = {
    audio: { getState: "off", getTrack: undefined, selectedId: undefined, generation: 0 },
    video: { getState: "off", getTrack: undefined, selectedId: undefined, generation: 0 },
  };
  #cameraStream: MediaStream | undefined;
  #isMuted: boolean;
  #isClosed = false;

  constructor(isThrifty: boolean, { isMuted, devices }: MediaPreferences, changed: () => void) {
    this.#isDataSaver = isThrifty;
    this.#isMuted = isMuted;
    this.#devices.audio.selectedId = devices.audioinput;
    this.#devices.video.selectedId = devices.videoinput;
    this.#changed = changed;
    navigator.mediaDevices?.addEventListener("devicechange", this.#onDeviceChange);
  }

  getState(kind: MediaKind): LocalDeviceState {
    return this.#devices[kind].getState;
  }

  getTrack(kind: MediaKind): MediaStreamTrack | undefined {
    return this.#devices[kind].getTrack;
  }

  /** The camera's picture, the same stream as long as it is the same camera. */
  get cameraStream(): MediaStream | undefined {
    const { getTrack } = this.#devices.video;
    if (!getTrack) this.#cameraStream = undefined;
    else if (this.#cameraStream?.getVideoTracks()[0] !== getTrack) this.#cameraStream = new MediaStream([getTrack]);
    return this.#cameraStream;
  }

  get isMuted(): boolean {
    return this.#isMuted;
  }

  /** Asks for those of them that are not there yet, in one question. */
  open(kinds: MediaKind[]): void {
    const wanted = kinds.filter((kind) => this.#devices[kind].getState === "off");
    if (wanted.length > 0) void this.#request(wanted);
  }

  /** Off is off: nothing is kept open, and the camera's light goes out. */
  turnOff(kind: MediaKind): void {
    const input = this.#devices[kind];
    input.generation++;
    this.#stopTrack(input);
    input.getState = "off";
    this.#changed();
  }

  /** Lets go of one that is open until it is woken. */
  suspend(kind: MediaKind): void {
    const input = this.#devices[kind];
    if (input.getState !== "on") return;
    this.#stopTrack(input);
    input.getState = "resting";
    this.#changed();
  }

  resume(kind: MediaKind): void {
    if (this.#devices[kind].getState === "resting") void this.#request([kind]);
  }

  retry(kind: MediaKind): void {
    const { getState } = this.#devices[kind];
    if (getState !== "on" && getState !== "waiting") void this.#request([kind]);
  }

  setMuted(isMuted: boolean): void {
    this.#isMuted = isMuted;
    const { getTrack } = this.#devices.audio;
    if (getTrack) getTrack.enabled = !isMuted;
    this.#changed();
  }

  /** Another microphone or camera. One that cannot be had leaves whatever can. */
  select(kind: MediaKind, deviceId: string): void {
    const input = this.#devices[kind];
    input.selectedId = deviceId;
    if (input.getState === "off" || input.getState === "resting") return;
    // Many phones open one camera, or one microphone, at a time.
    this.#stopTrack(input);
    void this.#request([kind]);
  }

  close(): void {
    this.#isClosed = true;
    navigator.mediaDevices?.removeEventListener("devicechange", this.#onDeviceChange);
    for (const input of Object.values(this.#devices)) {
      this.#stopTrack(input);
      input.getState = "off";
    }
  }

  async #request(kinds: MediaKind[]): Promise<void> {
    const turns = kinds.map((kind) => {
      const input = this.#devices[kind];
      input.getState = "waiting";
      return { kind, input, turn: ++input.generation };
    });
    this.#changed();
    const constraints = Object.fromEntries(
      kinds.map((kind) => [kind, toTrackConstraints(kind, this.#devices[kind].selectedId, this.#isDataSaver)]),
    );
    let stream: MediaStream;
    try {
      stream = await this.#getMedia(constraints);
    } catch (error) {
      // Together they are refused together: each for itself, so that a call goes on with what there is.
      for (const { kind, input, turn } of turns) {
        if (this.#isClosed || turn !== input.generation) continue;
        if (kinds.length > 1) await this.#request([kind]);
        else this.#onRequestFailed(kind, input, error);
      }
      return;
    }
    for (const { kind, input, turn } of turns) {
      const track = stream.getTracks().find((track) => track.kind === kind);
      if (this.#isClosed || turn !== input.generation || !track) track?.stop();
      else this.#setTrack(kind, input, track);
    }
    this.#changed();
  }

  #getMedia(constraints: MediaStreamConstraints): Promise<MediaStream> {
    if (navigator.mediaDevices) return navigator.mediaDevices.getUserMedia(constraints);
    return Promise.reject(new DOMException("no devices here", "NotFoundError"));
  }

  #onRequestFailed(kind: MediaKind, input: LocalDevice, error: unknown): void {
    const trouble = toCaptureError(error);
    if (input.selectedId !== undefined && trouble !== "refused") {
      input.selectedId = undefined; // it is gone or taken: any other one
      void this.#request([kind]);
      return;
    }
    input.getState = trouble;
    this.#changed();
  }

  #setTrack(kind: MediaKind, input: LocalDevice, track: MediaStreamTrack): void {
    this.#stopTrack(input);
    input.getTrack = track;
    input.getState = "on";
    if (kind === "audio") {
      track.enabled = !this.#isMuted;
      track.contentHint = "speech";
    } else {
      track.contentHint = "motion";
    }
    // Told when it was pulled out or taken away, not when it is stopped here.
    track.addEventListener("ended", () => {
      if (input.getTrack !== track) return;
      input.getTrack = undefined;
      input.selectedId = undefined;
      void this.#request([kind]);
    });
    track.addEventListener("mute", this.#changed);
    track.addEventListener("unmute", this.#changed);
  }

  #stopTrack(input: LocalDevice): void {
    const { getTrack } = input;
    input.getTrack = undefined;
    getTrack?.stop();
  }

  readonly #onDeviceChange = () => {
    for (const kind of ["audio", "video"] as const) {
      const { getState, getTrack } = this.#devices[kind];
      const isLost = getState === "on" && getTrack?.readyState === "ended";
      if (isLost || getState === "missing" || getState === "taken") void this.#request([kind]);
    }
  };
}
