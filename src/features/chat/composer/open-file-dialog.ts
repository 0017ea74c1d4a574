import type { RefObject } from "react";

/**
 * Opens the browser's file dialog. `accept`: types to offer, such as `image/*`, or all. `capture`: opens the camera app
 * instead, where there is one.
 */
export const openFileDialog = (
  { current: input }: RefObject<HTMLInputElement | null>,
  accept = "",
  capture = "",
): void => {
  if (!input) return;
  Object.assign(input, { accept, capture, multiple: capture === "" });
  input.click();
};
