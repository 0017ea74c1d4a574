import * as v from "valibot";
import type { CallKind } from "#contract/calls/call.ts";

/** Devices selected by the person. The ids are the browser's. */
const SelectedDevices = v.object({
  audioinput: v.optional(v.string()),
  videoinput: v.optional(v.string()),
  audiooutput: v.optional(v.string()),
});
export type SelectedDevices = v.InferOutput<typeof SelectedDevices>;

/** Media a person chose to send and receive in a call. */
export const MediaPreferences = v.object({
  isMuted: v.boolean(),
  isCameraOn: v.boolean(),
  /** Whether remote video is wanted; without it a call takes a tenth of the data. */
  takesPictures: v.boolean(),
  /** Whether the camera was on when the person chose audio only. It is turned on again with the remote video. */
  isCameraHeld: v.boolean(),
  devices: v.optional(SelectedDevices, {}),
});
export type MediaPreferences = v.InferOutput<typeof MediaPreferences>;

/** Change of one preference. */
export type MediaPreferenceChange =
  | { isMuted: boolean }
  | { isCameraOn: boolean }
  | { takesPictures: boolean }
  | { device: keyof SelectedDevices; id: string };

export const createDefaultPreferences = (kind: CallKind): MediaPreferences => ({
  isMuted: false,
  isCameraOn: kind === "video",
  takesPictures: true,
  isCameraHeld: false,
  devices: {},
});

/** Preferences when none are known: nothing is sent before the person chooses. */
export const silentPreferences: MediaPreferences = { ...createDefaultPreferences("audio"), isMuted: true };

export const applyPreferenceChange = (before: MediaPreferences, change: MediaPreferenceChange): MediaPreferences => {
  if ("isMuted" in change) return { ...before, ...change };
  if ("device" in change) return { ...before, devices: { ...before.devices, [change.device]: change.id } };
  // Turning the camera on or off also overrides the state remembered by audio only.
  if ("isCameraOn" in change) return { ...before, ...change, isCameraHeld: false };
  const { takesPictures } = change;
  if (takesPictures === before.takesPictures) return before;
  return takesPictures
    ? { ...before, takesPictures, isCameraOn: before.isCameraOn || before.isCameraHeld, isCameraHeld: false }
    : { ...before, takesPictures, isCameraOn: false, isCameraHeld: before.isCameraOn };
};
