import type { CallView } from "#calls/views.ts";
import type { CallKind } from "#contract/calls/call.ts";
import type { TextKey } from "#i18n/setup.ts";

type CallViewState = CallView["state"];

const ringingKeys: Record<CallKind, TextKey> = {
  audio: "calls.status.ringingAudio",
  video: "calls.status.ringingVideo",
};

/** Translation key of a call's status (SPEC.md §4). A connected call also shows its duration. */
export const getCallStatusKey = (state: Exclude<CallViewState, { phase: "ended" }>): TextKey => {
  switch (state.phase) {
    case "outgoing":
      return state.peer === "ringing" ? "calls.status.outgoingRings" : "calls.status.outgoing";
    case "ringing":
      return ringingKeys[state.call.kind];
    case "connecting":
      return "calls.status.connecting";
    case "connected":
      return state.interruptedAt === undefined ? "calls.status.connected" : "calls.status.reconnecting";
  }
};

/** Translation key of an unconnected call's status in a bar, where no warnings are shown. */
export const getCallBarStatusKey = (state: Exclude<CallViewState, { phase: "ended" }>): TextKey =>
  state.phase === "outgoing" && state.peer === "asleep" ? "calls.status.outgoingAsleep" : getCallStatusKey(state);

/** Status text of a minimized call, e.g. "Appel audio en cours - 02:31". */
export const ongoingCallKeys: Record<CallKind, TextKey> = {
  audio: "calls.ongoingAudio",
  video: "calls.ongoingVideo",
};
