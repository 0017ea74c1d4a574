import type { CallError, CallNotice, CallState } from "#contract/calls/call-machine.ts";
import type { Uuid } from "#contract/ids.ts";
import type { ChosenDevices } from "./media/media-preferences.ts";
import type { MediaView } from "./media/media-session.ts";

/** The call of this tab, as screens see it. Times in it are by this device's clock. */
export type CallView = {
  state: Exclude<CallState, { at: "idle" }>;
  media: MediaView;
  /** Those the person chose in it. */
  devices: ChosenDevices;
  /** The overlay is put away; banners stand for it. */
  isMinimised: boolean;
};

/** What a person is told besides. */
export type CallSaying = {
  /** `called`: somebody did, and was told that this person is in a call. */
  notice: CallNotice | "called";
  error?: CallError;
  peer: Uuid;
};
