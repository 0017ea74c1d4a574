import * as v from "valibot";
import type { CallKind } from "#contract/calls/call.ts";

/** By which devices, of those that were chosen; their ids are the browser's. */
const SelectedDevices = v.object({
  audioinput: v.optional(v.string()),
  videoinput: v.optional(v.string()),
  audiooutput: v.optional(v.string()),
});
export type SelectedDevices = v.InferOutput<typeof SelectedDevices>;

/** What a person chose to let be heard and seen of themselves in a call, and to see of the other side. */
export const MediaPreferences = v.object({
  isMuted: v.boolean(),
  isCameraOn: v.boolean(),
  /** Without the other side's picture a call takes a tenth of the data. */
  takesPictures: v.boolean(),
  /** The camera was on when the voice alone was chosen: it comes back with the pictures. */
  isCameraHeld: v.boolean(),
  devices: v.optional(SelectedDevices, {}),
});
export type MediaPreferences = v.InferOutput<typeof MediaPreferences>;

/** One choice of these. */
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

/** Where nobody knows what was chosen, nothing is heard or seen before it is chosen again. */
export const silentPreferences: MediaPreferences = { ...createDefaultPreferences("audio"), isMuted: true };

export const applyPreferenceChange = (before: MediaPreferences, choice: MediaPreferenceChange): MediaPreferences => {
  if ("isMuted" in choice) return { ...before, ...choice };
  if ("device" in choice) return { ...before, devices: { ...before.devices, [choice.device]: choice.id } };
  // A tap on the camera says what is wanted, also while the voice alone was.
  if ("isCameraOn" in choice) return { ...before, ...choice, isCameraHeld: false };
  const { takesPictures } = choice;
  if (takesPictures === before.takesPictures) return before;
  return takesPictures
    ? { ...before, takesPictures, isCameraOn: before.isCameraOn || before.isCameraHeld, isCameraHeld: false }
    : { ...before, takesPictures, isCameraOn: false, isCameraHeld: before.isCameraOn };
};
