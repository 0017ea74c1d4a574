import * as v from "valibot";
import type { CallKind } from "../../contract/calls";

/** What a person chose to let be heard and seen of themselves in a call, and to see of the other side. */
export const Choices = v.object({
  isMuted: v.boolean(),
  isCameraOn: v.boolean(),
  /** Without the other side's picture a call takes a tenth of the data. */
  takesPictures: v.boolean(),
  /** The camera was on when the voice alone was chosen: it comes back with the pictures. */
  isCameraHeld: v.boolean(),
});
export type Choices = v.InferOutput<typeof Choices>;

/** One choice of these. */
export type Choice = { isMuted: boolean } | { isCameraOn: boolean } | { takesPictures: boolean };

export const firstChoices = (kind: CallKind): Choices => ({
  isMuted: false,
  isCameraOn: kind === "video",
  takesPictures: true,
  isCameraHeld: false,
});

/** Where nobody knows what was chosen, nothing is heard or seen before it is chosen again. */
export const quietChoices: Choices = { isMuted: true, isCameraOn: false, takesPictures: true, isCameraHeld: false };

export const choose = (before: Choices, choice: Choice): Choices => {
  if ("isMuted" in choice) return { ...before, ...choice };
  // A tap on the camera says what is wanted, also while the voice alone was.
  if ("isCameraOn" in choice) return { ...before, ...choice, isCameraHeld: false };
  const { takesPictures } = choice;
  if (takesPictures === before.takesPictures) return before;
  return takesPictures
    ? { ...before, takesPictures, isCameraOn: before.isCameraOn || before.isCameraHeld, isCameraHeld: false }
    : { ...before, takesPictures, isCameraOn: false, isCameraHeld: before.isCameraOn };
};
