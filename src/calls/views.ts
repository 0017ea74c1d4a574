import type { CallError, CallNoticeType, CallState } from "#contract/calls/call-machine.ts";
import type { Uuid } from "#contract/ids.ts";
import type { SelectedDevices } from "./media/media-preferences.ts";
import type { MediaView } from "./media/media-session.ts";

/** The call of this tab, as screens see it. Times in it are by this device's clock. */
export type CallView = {
  state: Exclude<CallState, { at: "idle" }>;
  media: MediaView;
  /** Those the person chose in it. */
  devices: SelectedDevices;
  /** The overlay is put away; banners stand for it. */
  isMinimized: boolean;
};

/** What a person is told besides. */
export type CallNotice = {
  /** `called`: somebody did, and was told that this person is in a call. */
  notice: CallNoticeType | "called";
  error?: CallError;
  peer: Uuid;
};
