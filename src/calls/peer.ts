import type { MakeMedia } from "./media-plane";

/** The media of a call between two people: directly from browser to browser, or over a relay. */
export const makePeerMedia: MakeMedia = () => ({
  prepare: () => undefined,
  open: () => undefined,
  meet: () => undefined,
  start: () => undefined,
  receive: () => undefined,
  resend: () => undefined,
  setMuted: () => undefined,
  setCamera: () => undefined,
  setInput: () => undefined,
  stop: () => undefined,
});
