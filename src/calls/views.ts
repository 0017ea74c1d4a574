import type { CallKind } from "#contract/calls/call.ts";
import type { CallError, CallNoticeType, CallState } from "#contract/calls/local-call.ts";
import type { Uuid } from "#contract/ids.ts";
import type { SelectedDevices } from "./media/media-preferences.ts";
import type { MediaView } from "./media/media-session.ts";

/** Call of this tab as shown by the screens. Times use this device's clock. */
export type CallView = {
  state: Exclude<CallState, { phase: "idle" }>;
  media: MediaView;
  /** Devices selected during the call. */
  devices: SelectedDevices;
  /** The call screen is minimized and banners represent it. */
  isMinimized: boolean;
};

/** Notice shown to the person, mostly as a toast. */
export type CallNotice = {
  /** `called`: somebody called during another call and got a busy answer. */
  notice: CallNoticeType | "called";
  error?: CallError;
  peer: Uuid;
  /** Kind of a call that may be dialled once its person has confirmed the peer's number. */
  kind?: CallKind;
};
