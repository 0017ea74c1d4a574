import { videoSizes } from "#calls/quality/quality-ladder.ts";
import type { MediaPreferences } from "./media-preferences.ts";
import type { CaptureError, MediaKind } from "./media-session.ts";

/** `suspended`: released while its track is not sent. */
type LocalDeviceState = "off" | "suspended" | "waiting" | "on" | CaptureError;
type LocalDevice = {
  state: LocalDeviceState;
  track: MediaStreamTrack | undefined;
  selectedId: string | undefined;
  generation: number;
};

const toCaptureError = (error: unknown): CaptureError => {
  const name = error instanceof DOMException || error instanceof Error ? error.name : "";
  if (name === "NotAllowedError" || name === "SecurityError") return "refused";
  return name === "NotReadableError" || name === "AbortError" ? "taken" : "missing";
};

const toTrackConstraints = (
  kind: MediaKind,
  selectedId: string | undefined,
  isDataSaver: boolean,
): MediaTrackConstraints => {
  const device = selectedId === undefined ? {} : { deviceId: { exact: selectedId } };
  if (kind === "audio") {
    return { ...device, channelCount: 1, echoCancellation: true, noiseSuppression: true, autoGainControl: true };
  }
  const { width, height, framesPerSecond } = isDataSaver ? videoSizes.small : videoSizes.medium;
  return {
    ...device,
    ...(selectedId === undefined && { facingMode: "user" }),
    width: { ideal: width },
    height: { ideal: height },
    frameRate: { ideal: framesPerSecond, max: 30 },
  };
};

/** Microphone and camera of this device in a call: opening, selecting, losing and reopening them. */
export class LocalDevices {
  readonly #isDataSaver: boolean;
  readonly #changed: () => void;
  readonly #devices: Record<MediaKind, LocalDevice> = {
    audio: { state: "off", track: undefined, selectedId: undefined, generation: 0 },
    video: { state: "off", track: undefined, selectedId: undefined, generation: 0 },
  };
  #cameraStream: MediaStream | undefined;
  #isMuted: boolean;
  #isClosed = false;

  constructor(isDataSaver: boolean, { isMuted, devices }: MediaPreferences, changed: () => void) {
    this.#isDataSaver = isDataSaver;
    this.#isMuted = isMuted;
    this.#devices.audio.selectedId = devices.audioinput;
    this.#devices.video.selectedId = devices.videoinput;
    this.#changed = changed;
    navigator.mediaDevices?.addEventListener("devicechange", this.#onDeviceChange);
  }

  getState(kind: MediaKind): LocalDeviceState {
    return this.#devices[kind].state;
  }

  getTrack(kind: MediaKind): MediaStreamTrack | undefined {
    return this.#devices[kind].track;
  }

  /** Stream of the camera's video. The same object as long as it is the same track. */
  get cameraStream(): MediaStream | undefined {
    const { track } = this.#devices.video;
    if (!track) this.#cameraStream = undefined;
    else if (this.#cameraStream?.getVideoTracks()[0] !== track) this.#cameraStream = new MediaStream([track]);
    return this.#cameraStream;
  }

  get isMuted(): boolean {
    return this.#isMuted;
  }

  /** Opens the devices that are off, in one request. */
  open(kinds: MediaKind[]): void {
    const closed = kinds.filter((kind) => this.#devices[kind].state === "off");
    if (closed.length > 0) void this.#request(closed);
  }

  /** Turns a device off and closes it, so that the camera's light goes out. */
  turnOff(kind: MediaKind): void {
    const device = this.#devices[kind];
    device.generation++;
    this.#stopTrack(device);
    device.state = "off";
    this.#changed();
  }

  /** Closes an open device until `resume`. */
  suspend(kind: MediaKind): void {
    const device = this.#devices[kind];
    if (device.state !== "on") return;
    this.#stopTrack(device);
    device.state = "suspended";
    this.#changed();
  }

  resume(kind: MediaKind): void {
    if (this.#devices[kind].state === "suspended") void this.#request([kind]);
  }

  retry(kind: MediaKind): void {
    const { state } = this.#devices[kind];
    if (state !== "on" && state !== "waiting") void this.#request([kind]);
  }

  setMuted(isMuted: boolean): void {
    this.#isMuted = isMuted;
    const { track } = this.#devices.audio;
    if (track) track.enabled = !isMuted;
    this.#changed();
  }

  /** Selects another microphone or camera. If it cannot be opened, any other one is used. */
  select(kind: MediaKind, deviceId: string): void {
    const device = this.#devices[kind];
    device.selectedId = deviceId;
    if (device.state === "off" || device.state === "suspended") return;
    // Many phones can open only one camera or microphone at a time.
    this.#stopTrack(device);
    void this.#request([kind]);
  }

  close(): void {
    this.#isClosed = true;
    navigator.mediaDevices?.removeEventListener("devicechange", this.#onDeviceChange);
    for (const device of Object.values(this.#devices)) {
      this.#stopTrack(device);
      device.state = "off";
    }
  }

  async #request(kinds: MediaKind[]): Promise<void> {
    const requests = kinds.map((kind) => {
      const device = this.#devices[kind];
      device.state = "waiting";
      return { kind, device, generation: ++device.generation };
    });
    this.#changed();
    const constraints = Object.fromEntries(
      kinds.map((kind) => [kind, toTrackConstraints(kind, this.#devices[kind].selectedId, this.#isDataSaver)]),
    );
    let stream: MediaStream;
    try {
      stream = await this.#getMedia(constraints);
    } catch (error) {
      // A joint request fails as a whole, so each device is requested separately and the call goes on with what is
      // available.
      for (const { kind, device, generation } of requests) {
        if (this.#isClosed || generation !== device.generation) continue;
        if (kinds.length > 1) await this.#request([kind]);
        else this.#onRequestFailed(kind, device, error);
      }
      return;
    }
    for (const { kind, device, generation } of requests) {
      const track = stream.getTracks().find((track) => track.kind === kind);
      if (this.#isClosed || generation !== device.generation || !track) track?.stop();
      else this.#setTrack(kind, device, track);
    }
    this.#changed();
  }

  #getMedia(constraints: MediaStreamConstraints): Promise<MediaStream> {
    if (navigator.mediaDevices) return navigator.mediaDevices.getUserMedia(constraints);
    return Promise.reject(new DOMException("no devices here", "NotFoundError"));
  }

  #onRequestFailed(kind: MediaKind, device: LocalDevice, error: unknown): void {
    const captureError = toCaptureError(error);
    if (device.selectedId !== undefined && captureError !== "refused") {
      device.selectedId = undefined; // the selected device is gone or in use, so any other one is used
      void this.#request([kind]);
      return;
    }
    device.state = captureError;
    this.#changed();
  }

  #setTrack(kind: MediaKind, device: LocalDevice, track: MediaStreamTrack): void {
    this.#stopTrack(device);
    device.track = track;
    device.state = "on";
    if (kind === "audio") {
      track.enabled = !this.#isMuted;
      track.contentHint = "speech";
    } else {
      track.contentHint = "motion";
    }
    // Fires when the device was unplugged or taken away, not when the track is stopped here.
    track.addEventListener("ended", () => {
      if (device.track !== track) return;
      device.track = undefined;
      device.selectedId = undefined;
      void this.#request([kind]);
    });
    track.addEventListener("mute", this.#changed);
    track.addEventListener("unmute", this.#changed);
  }

  #stopTrack(device: LocalDevice): void {
    const { track } = device;
    device.track = undefined;
    track?.stop();
  }

  readonly #onDeviceChange = () => {
    for (const kind of ["audio", "video"] as const) {
      const { state, track } = this.#devices[kind];
      const isLost = state === "on" && track?.readyState === "ended";
      if (isLost || state === "missing" || state === "taken") void this.#request([kind]);
    }
  };
}
