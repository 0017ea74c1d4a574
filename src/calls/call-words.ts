import type { CallKind } from "../../contract/calls";
import type { TextKey } from "../i18n/setup";
import type { CallView } from "./views";

type State = CallView["state"];

const incoming: Record<CallKind, TextKey> = { audio: "calls.status.ringingAudio", video: "calls.status.ringingVideo" };

/** How a call stands, in words (SPEC.md §4); a connected one shows its duration besides. */
export const statusKey = (state: State, hasRung: boolean): TextKey => {
  switch (state.at) {
    case "outgoing":
      return "calls.status.outgoing";
    case "ringing":
      return incoming[state.call.kind];
    case "connecting":
      return "calls.status.connecting";
    case "connected":
      return state.isInterrupted ? "calls.status.reconnecting" : "calls.status.connected";
    case "ended":
      return endKey(state, hasRung);
  }
};

/** Why a call is over. `hasRung`: it rang here until then, and nobody took it here. */
export const endKey = (end: Extract<State, { at: "ended" }>, hasRung: boolean): TextKey => {
  if (end.reason === "busy") return "calls.end.busy";
  if (end.reason === "failed") return "calls.end.failed";
  if (end.status === "missed") return end.call.isCaller ? "calls.end.cancelled" : "calls.end.missed";
  if (end.status === "rejected") return "calls.end.rejected";
  if (end.status === "cancelled") return "calls.end.cancelled";
  return hasRung ? "calls.end.elsewhere" : "calls.end.ended";
};

/** Of a call that goes on behind something else: "Appel audio en cours - 02:31". */
export const ongoingKey: Record<CallKind, TextKey> = {
  audio: "calls.ongoingAudio",
  video: "calls.ongoingVideo",
};
