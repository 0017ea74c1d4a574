import type { DeviceId } from "#contract/calls/call.ts";
import type { IceServers } from "#contract/calls/ice.ts";
import type { MediaPreferences } from "./media-preferences.ts";

/** Why there is no sound or picture of a device's own: it was not allowed, there is none, or another program has it. */
export type CaptureError = "refused" | "missing" | "taken";

/** What a call's media are like now. Each change is another object. */
export type MediaView = {
  mic: "on" | "muted" | "waiting" | CaptureError;
  /**
   * `off`: by this person's own choice. While it is on it may not be seen: the link does not carry it (`thin`), or the
   * other side asked for the voice alone (`unwanted`).
   */
  camera: "on" | "off" | "waiting" | "thin" | "unwanted" | CaptureError;
  /** This side's picture, for the preview. */
  local: MediaStream | undefined;
  /** What comes from the other side, sound and picture. */
  remote: MediaStream | undefined;
  /** A camera that was on and not seen is seen again since a moment. */
  isVideoRestored: boolean;
  /** This person asked for the voice alone. */
  isVoiceOnly: boolean;
  /**
   * What the other side says of itself. `hasMic`: false when it talks without one; muted is somebody who chose it, as
   * `isCameraOff` is, and `isVoiceOnly`, which takes no picture.
   */
  peer: { isMuted: boolean; hasMic: boolean; hasVideo: boolean; isCameraOff: boolean; isVoiceOnly: boolean };
  /** From bad (1) to good (3); 0 while nothing is known. */
  quality: 0 | 1 | 2 | 3;
  /** Both ways since the call began, headers included. */
  bytes: number;
  /** The other side gets no sound from here though this side is not muted. */
  isMicInaudible: boolean;
};

export type MediaEvents = {
  /** The other side's sound came, for the first time or again. */
  audioReceived(): void;
  /** Nothing comes any more since so long; it is being mended. */
  interrupted(silentMs: number): void;
  /** It cannot be mended. */
  failed(): void;
  /** The other side hung up, and said so itself. */
  peerHungUp(): void;
  /** The way to the server should be looked at: nothing comes, or the network changed. */
  connectionSuspected(): void;
  viewChanged(view: MediaView): void;
  /** To the other person's device, or to all of theirs; `false` when it could not leave now. */
  sendSignal(to: DeviceId | null, signal: string): void;
};

export type MediaOptions = {
  /** What holds before anything is opened, sent or said. */
  preferences: MediaPreferences;
  /** Of the two, the one that gives way when both offer at once: the larger user id. */
  isPolite: boolean;
  deviceId: DeviceId;
  isCaller: boolean;
  /**
   * What helps to find a way, and whether only relayed ones may be used (`hide`); answers once the server knows the
   * call. May be called again for new credentials; rejects when the server cannot be asked.
   */
  fetchIceServers(): Promise<IceServers>;
  /** The person saves data. */
  isDataSaver: boolean;
};

/**
 * The media of one call, from the first tap to its end. Two people talk directly (`peer-media.ts`); a group would bring a
 * plane of its own behind the same words. Nothing leaves a microphone or a camera before `start`.
 */
export type CallMediaSession = {
  /**
   * Gets everything ready. A caller's microphone, and the camera of a video call, are asked for at once, within the tap;
   * where it only rings nothing is opened: that is `open`'s.
   */
  prepare(): void;
  /**
   * The person takes the call: asks for microphone and camera within that tap, while the server is still asked. Until
   * then a callee's device tells and uses none of its addresses but a relay's.
   */
  openDevices(): void;
  /**
   * The other person's device rings, or talks: a way to it is made silently. A device that rings meets the caller's: it
   * says hello to it, by which the caller's plane (`receive`) comes to know it.
   */
  preconnect(device: DeviceId): void;
  /** The call is answered, by this device of the other side: sound and picture may go. */
  start(device: DeviceId): void;
  receiveSignal(from: DeviceId, signal: string): void;
  /** The way to the server is there again: what was not confirmed is said once more. */
  resendSignals(): void;
  setMuted(isMuted: boolean): void;
  setCameraOn(isOn: boolean): void;
  /** Whether the other side's picture is wanted: without it a call takes a tenth of the data. */
  setRemoteVideoWanted(areTaken: boolean): void;
  /** Whether the other side's picture is before anybody's eyes: for one that is not, nothing is spent after a moment. */
  setRemoteVideoVisible(isSeen: boolean): void;
  selectDevice(kind: "audioinput" | "videoinput", deviceId: string): void;
  /**
   * Everything stops and is let go; what is asked of it afterwards does nothing. Of somebody who hung up the other side
   * hears so at once, also where the server cannot be reached.
   */
  stop(isHungUp?: boolean): void;
};

export type CreateMediaSession = (options: MediaOptions, events: MediaEvents) => CallMediaSession;

/** Whether nothing of it is another than before. */
export const isSameMediaView = ({ peer: before, ...one }: MediaView, { peer, ...other }: MediaView): boolean =>
  before.isMuted === peer.isMuted &&
  before.hasMic === peer.hasMic &&
  before.hasVideo === peer.hasVideo &&
  before.isCameraOff === peer.isCameraOff &&
  before.isVoiceOnly === peer.isVoiceOnly &&
  (Object.keys(one) as (keyof typeof one)[]).every((key) => one[key] === other[key]);
