import type { MediaState } from "#calls/signaling/messages.ts";
import { CameraIdleTimer } from "./camera-idle.ts";
import type { MediaOptions } from "./media-session.ts";

const hiddenAfterMs = 3_000; // looking away for a moment keeps the video

/** Requests for video: for this side's by its person and by the other side, and for the other side's by this person. */
export class VideoRequests {
  #isCameraOn: boolean;
  #isVideoWanted = true;
  #requestedAt = 0;
  #wantsRemoteVideo: boolean;
  /** Time since which the remote video is not visible. */
  #hiddenSince: number | undefined;
  readonly #cameraIdleTimer = new CameraIdleTimer();

  constructor({ isCameraOn, takesPictures }: MediaOptions["preferences"]) {
    this.#isCameraOn = isCameraOn;
    this.#wantsRemoteVideo = takesPictures;
  }

  get isCameraOn(): boolean {
    return this.#isCameraOn;
  }
  /** Whether the other side wants this side's video, as last reported; a reload of its page keeps the value. */
  get isVideoWanted(): boolean {
    return this.#isVideoWanted;
  }
  /** When this side's video was last requested, by its person or by the other side. */
  get requestedAt(): number {
    return this.#requestedAt;
  }
  get wantsRemoteVideo(): boolean {
    return this.#wantsRemoteVideo;
  }
  /** Whether the remote video has not been visible for more than a moment. */
  get isRemoteVideoHidden(): boolean {
    return performance.now() - (this.#hiddenSince ?? Number.POSITIVE_INFINITY) > hiddenAfterMs;
  }

  setCameraOn(isOn: boolean): void {
    if (isOn) this.#requestedAt = performance.now();
    this.#isCameraOn = isOn;
  }

  setRemoteVideoWanted(isWanted: boolean): void {
    this.#wantsRemoteVideo = isWanted;
  }

  setRemoteVideoVisible(isVisible: boolean): void {
    this.#hiddenSince = isVisible ? undefined : (this.#hiddenSince ?? performance.now());
  }

  /** Adopts what the other side reports. */
  applyPeerState(peer: MediaState | undefined): void {
    if (!peer || peer.wantsVideo === this.#isVideoWanted) return;
    this.#isVideoWanted = peer.wantsVideo;
    this.#requestedAt = performance.now();
  }

  /** Whether the camera should be suspended. `isHeldBack`: its video cannot be sent, or nobody wants it. */
  shouldSuspendCamera(isHeldBack: boolean): boolean {
    return this.#cameraIdleTimer.shouldSuspend(this.#isCameraOn && isHeldBack, this.#requestedAt, performance.now());
  }
}
