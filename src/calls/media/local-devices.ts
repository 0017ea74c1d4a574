import { videoSizes } from "#calls/quality/quality-ladder.ts";
import type { Choices } from "./media-preferences.ts";
import type { DeviceTrouble } from "./media-session.ts";

type Kind = "audio" | "video";
/** `resting`: let go for as long as nothing of it is sent. */
type InputState = "off" | "resting" | "waiting" | "on" | DeviceTrouble;
type Input = { state: InputState; track: MediaStreamTrack | undefined; chosen: string | undefined; turn: number };

const troubleOf = (error: unknown): DeviceTrouble => {
  const name = error instanceof DOMException || error instanceof Error ? error.name : "";
  if (name === "NotAllowedError" || name === "SecurityError") return "refused";
  return name === "NotReadableError" || name === "AbortError" ? "taken" : "missing";
};

const constraintsOf = (kind: Kind, chosen: string | undefined, isThrifty: boolean): MediaTrackConstraints => {
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
export class Inputs {
  readonly #isThrifty: boolean;
  readonly #changed: () => void;
  readonly #inputs: Record<Kind, Input> = {
    audio: { state: "off", track: undefined, chosen: undefined, turn: 0 },
    video: { state: "off", track: undefined, chosen: undefined, turn: 0 },
  };
  #picture: MediaStream | undefined;
  #isMuted: boolean;
  #isClosed = false;

  constructor(isThrifty: boolean, { isMuted, devices }: Choices, changed: () => void) {
    this.#isThrifty = isThrifty;
    this.#isMuted = isMuted;
    this.#inputs.audio.chosen = devices.audioinput;
    this.#inputs.video.chosen = devices.videoinput;
    this.#changed = changed;
    navigator.mediaDevices?.addEventListener("devicechange", this.#onDevices);
  }

  state(kind: Kind): InputState {
    return this.#inputs[kind].state;
  }

  track(kind: Kind): MediaStreamTrack | undefined {
    return this.#inputs[kind].track;
  }

  /** The camera's picture, the same stream as long as it is the same camera. */
  get picture(): MediaStream | undefined {
    const { track } = this.#inputs.video;
    if (!track) this.#picture = undefined;
    else if (this.#picture?.getVideoTracks()[0] !== track) this.#picture = new MediaStream([track]);
    return this.#picture;
  }

  get isMuted(): boolean {
    return this.#isMuted;
  }

  /** Asks for those of them that are not there yet, in one question. */
  open(kinds: Kind[]): void {
    const wanted = kinds.filter((kind) => this.#inputs[kind].state === "off");
    if (wanted.length > 0) void this.#ask(wanted);
  }

  /** Off is off: nothing is kept open, and the camera's light goes out. */
  shut(kind: Kind): void {
    const input = this.#inputs[kind];
    input.turn++;
    this.#drop(input);
    input.state = "off";
    this.#changed();
  }

  /** Lets go of one that is open until it is woken. */
  rest(kind: Kind): void {
    const input = this.#inputs[kind];
    if (input.state !== "on") return;
    this.#drop(input);
    input.state = "resting";
    this.#changed();
  }

  wake(kind: Kind): void {
    if (this.#inputs[kind].state === "resting") void this.#ask([kind]);
  }

  retry(kind: Kind): void {
    const { state } = this.#inputs[kind];
    if (state !== "on" && state !== "waiting") void this.#ask([kind]);
  }

  setMuted(isMuted: boolean): void {
    this.#isMuted = isMuted;
    const { track } = this.#inputs.audio;
    if (track) track.enabled = !isMuted;
    this.#changed();
  }

  /** Another microphone or camera. One that cannot be had leaves whatever can. */
  choose(kind: Kind, deviceId: string): void {
    const input = this.#inputs[kind];
    input.chosen = deviceId;
    if (input.state === "off" || input.state === "resting") return;
    // Many phones open one camera, or one microphone, at a time.
    this.#drop(input);
    void this.#ask([kind]);
  }

  close(): void {
    this.#isClosed = true;
    navigator.mediaDevices?.removeEventListener("devicechange", this.#onDevices);
    for (const input of Object.values(this.#inputs)) {
      this.#drop(input);
      input.state = "off";
    }
  }

  async #ask(kinds: Kind[]): Promise<void> {
    const turns = kinds.map((kind) => {
      const input = this.#inputs[kind];
      input.state = "waiting";
      return { kind, input, turn: ++input.turn };
    });
    this.#changed();
    const constraints = Object.fromEntries(
      kinds.map((kind) => [kind, constraintsOf(kind, this.#inputs[kind].chosen, this.#isThrifty)]),
    );
    let stream: MediaStream;
    try {
      stream = await this.#getMedia(constraints);
    } catch (error) {
      // Together they are refused together: each for itself, so that a call goes on with what there is.
      for (const { kind, input, turn } of turns) {
        if (this.#isClosed || turn !== input.turn) continue;
        if (kinds.length > 1) await this.#ask([kind]);
        else this.#refuse(kind, input, error);
      }
      return;
    }
    for (const { kind, input, turn } of turns) {
      const track = stream.getTracks().find((track) => track.kind === kind);
      if (this.#isClosed || turn !== input.turn || !track) track?.stop();
      else this.#take(kind, input, track);
    }
    this.#changed();
  }

  #getMedia(constraints: MediaStreamConstraints): Promise<MediaStream> {
    if (navigator.mediaDevices) return navigator.mediaDevices.getUserMedia(constraints);
    return Promise.reject(new DOMException("no devices here", "NotFoundError"));
  }

  #refuse(kind: Kind, input: Input, error: unknown): void {
    const trouble = troubleOf(error);
    if (input.chosen !== undefined && trouble !== "refused") {
      input.chosen = undefined; // it is gone or taken: any other one
      void this.#ask([kind]);
      return;
    }
    input.state = trouble;
    this.#changed();
  }

  #take(kind: Kind, input: Input, track: MediaStreamTrack): void {
    this.#drop(input);
    input.track = track;
    input.state = "on";
    if (kind === "audio") {
      track.enabled = !this.#isMuted;
      track.contentHint = "speech";
    } else {
      track.contentHint = "motion";
    }
    // Told when it was pulled out or taken away, not when it is stopped here.
    track.addEventListener("ended", () => {
      if (input.track !== track) return;
      input.track = undefined;
      input.chosen = undefined;
      void this.#ask([kind]);
    });
    track.addEventListener("mute", this.#changed);
    track.addEventListener("unmute", this.#changed);
  }

  #drop(input: Input): void {
    const { track } = input;
    input.track = undefined;
    track?.stop();
  }

  readonly #onDevices = () => {
    for (const kind of ["audio", "video"] as const) {
      const { state, track } = this.#inputs[kind];
      const isLost = state === "on" && track?.readyState === "ended";
      if (isLost || state === "missing" || state === "taken") void this.#ask([kind]);
    }
  };
}
