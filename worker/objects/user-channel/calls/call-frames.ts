import type { CallFrame } from "#contract/calls/call.ts";
import type { CallSignal } from "#worker/objects/rpc.ts";
import type { CallNews } from "./call-table.ts";

const frame = (payload: CallFrame["payload"]): CallFrame => ({ event: "call-system", payload });

/** What the devices hear of a change: how the call stands, or how it ended. */
export const frameOf = ({ call, over }: CallNews): CallFrame => {
  if (!over) return frame({ event_type: call.answered_at === null ? "ring" : "answered", data: call });
  const { status, seconds, reason } = over;
  const { call_id, conversation } = call;
  return frame({ event_type: status, data: { call_id, conversation, seconds, ...(reason ? { reason } : {}) } });
};

export const toldOf = ({ call, conversation, from, to, signal }: CallSignal) => ({
  call_id: call,
  conversation,
  from_device: from,
  to_device: to,
  signal,
});

export const signalFrame = (signal: CallSignal): CallFrame => frame({ event_type: "signal", data: toldOf(signal) });
