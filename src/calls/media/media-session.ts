import type { DeviceId } from "#contract/calls/call.ts";
import type { IceServers } from "#contract/calls/ice.ts";
import type { MediaPreferences } from "./media-preferences.ts";

export type MediaKind = "audio" | "video";

/** Why a microphone or camera cannot be used: permission denied, no such device, or another program uses it. */
export type CaptureError = "refused" | "missing" | "taken";

/** State of a call's media. Immutable: each change creates a new object. */
export type MediaView = {
  mic: "on" | "muted" | "waiting" | CaptureError;
  /**
   * `off`: switched off by this person. A camera that is on may still not be sent: the link is too slow
   * (`lowBandwidth`), or the other side asked for audio only (`unwanted`).
   */
  camera: "on" | "off" | "waiting" | "lowBandwidth" | "unwanted" | CaptureError;
  /** Local video, for the preview. */
  local: MediaStream | undefined;
  /** Remote audio and video. */
  remote: MediaStream | undefined;
  /** Whether the camera's video is sent again since a moment, after it was not. */
  isVideoRestored: boolean;
  /** Whether this person asked for audio only. */
  isVoiceOnly: boolean;
  /**
   * State reported by the other side. `hasMic` is false if it has no microphone; `isMuted`, `isCameraOff` and
   * `isVoiceOnly` (accepts no video) are choices of its person.
   */
  peer: { isMuted: boolean; hasMic: boolean; hasVideo: boolean; isCameraOff: boolean; isVoiceOnly: boolean };
  /** From bad (1) to good (3); 0 while unknown. */
  quality: 0 | 1 | 2 | 3;
  /** Bytes sent and received since the call began, headers included. */
  bytes: number;
  /** Whether the other side receives no sound although this side is not muted. */
  isMicInaudible: boolean;
};

export type MediaEvents = {
  /** Remote audio arrived, for the first time or again. */
  audioReceived(): void;
  /** No media arrived for `silentMs`; recovery is under way. */
  interrupted(silentMs: number): void;
  /** Recovery failed. */
  failed(): void;
  /** The other side hung up and reported it directly. */
  peerHungUp(): void;
  /** The connection to the server should be checked: no media arrive, or the network changed. */
  connectionSuspected(): void;
  viewChanged(view: MediaView): void;
  /** Sends a signal to one device of the other person, or to all (null). */
  sendSignal(to: DeviceId | null, signal: string): void;
};

export type MediaOptions = {
  /** Preferences that apply before any device is opened or anything is sent. */
  preferences: MediaPreferences;
  /** The polite peer gives way when both offer at once: the person with the larger user id. */
  isPolite: boolean;
  deviceId: DeviceId;
  isCaller: boolean;
  /**
   * Fetches STUN and TURN servers, and whether only relayed candidates may be used (`hide`). Waits until the server
   * knows the call. Called again for new credentials. Rejects if the server cannot be reached.
   */
  fetchIceServers(): Promise<IceServers>;
  /** Whether the person saves data. */
  isDataSaver: boolean;
};

/**
 * Media of one call, from the first tap to its end. Two people are connected directly (`peer-media.ts`); group calls
 * would implement the same interface. No audio or video is sent before `start`.
 */
export type CallMediaSession = {
  /**
   * Prepares the media. A caller's microphone, and the camera of a video call, are requested at once, within the tap.
   * While a call rings nothing is opened before `openDevices`.
   */
  prepare(): void;
  /**
   * Requests microphone and camera within the tap that accepts the call, while the server is still asked. Until then a
   * callee's device discloses and uses only relayed addresses.
   */
  openDevices(): void;
  /**
   * Connects silently to a device of the other person that rings or talks. A ringing device connects to the caller's
   * and says hello to it, by which the caller's session (`receiveSignal`) learns of it.
   */
  preconnect(device: DeviceId): void;
  /** Starts sending audio and video to the device that answered. */
  start(device: DeviceId): void;
  receiveSignal(from: DeviceId, signal: string): void;
  /** Sends unacknowledged signals again after the connection to the server was restored. */
  resendSignals(): void;
  setMuted(isMuted: boolean): void;
  setCameraOn(isOn: boolean): void;
  /** Sets whether remote video is wanted. Without it a call takes a tenth of the data. */
  setRemoteVideoWanted(areTaken: boolean): void;
  /** Sets whether the remote video is visible. Hidden video is no longer sent after a moment. */
  setRemoteVideoVisible(isSeen: boolean): void;
  selectDevice(kind: "audioinput" | "videoinput", deviceId: string): void;
  /**
   * Stops all media; later calls have no effect. After hanging up the other side is informed directly, even if the
   * server cannot be reached.
   */
  stop(isHungUp?: boolean): void;
};

export type CreateMediaSession = (options: MediaOptions, events: MediaEvents) => CallMediaSession;

/** Whether two views are equal. */
export const isSameMediaView = ({ peer: peerBefore, ...one }: MediaView, { peer, ...other }: MediaView): boolean =>
  peerBefore.isMuted === peer.isMuted &&
  peerBefore.hasMic === peer.hasMic &&
  peerBefore.hasVideo === peer.hasVideo &&
  peerBefore.isCameraOff === peer.isCameraOff &&
  peerBefore.isVoiceOnly === peer.isVoiceOnly &&
  (Object.keys(one) as (keyof typeof one)[]).every((key) => one[key] === other[key]);
