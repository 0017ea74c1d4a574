import type { CallView } from "#calls/views.ts";
import type { CallKind } from "#contract/calls/call.ts";
import type { TextKey } from "#i18n/setup.ts";

type CallViewState = CallView["state"];

const ringingKeys: Record<CallKind, TextKey> = {
  audio: "calls.status.ringingAudio",
  video: "calls.status.ringingVideo",
};

/** How a call stands, in words (SPEC.md §4); a connected one shows its duration besides. */
export const getCallStatusKey = (state: Exclude<CallViewState, { at: "ended" }>): TextKey => {
  switch (state.at) {
    case "outgoing":
      return state.isPeerRinging ? "calls.status.outgoingRings" : "calls.status.outgoing";
    case "ringing":
      return ringingKeys[state.call.kind];
    case "connecting":
      return "calls.status.connecting";
    case "connected":
      return state.interruptedAt === undefined ? "calls.status.connected" : "calls.status.reconnecting";
  }
};

/** Of a call that goes on behind something else: "Appel audio en cours - 02:31". */
export const ongoingCallKeys: Record<CallKind, TextKey> = {
  audio: "calls.ongoingAudio",
  video: "calls.ongoingVideo",
};
