import type { CallNotice, CallState } from "../../contract/call-machine";
import type { ErrorCode } from "../../contract/errors";
import type { MediaView } from "./media-plane";

/** The call of this tab, as screens see it. */
export type CallView = {
  state: Exclude<CallState, { at: "idle" }>;
  media: MediaView;
  /** The overlay is put away; banners stand for it. */
  isMinimised: boolean;
};

/** What a person is told besides. */
export type CallSaying = { notice: CallNotice; error?: ErrorCode | undefined; peer: string };
