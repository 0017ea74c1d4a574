import type { CallFrame } from "#contract/calls/call.ts";
import type { CallSignal } from "#worker/objects/rpc/calls.ts";
import type { CallUpdate } from "./call-table.ts";

const createCallFrame = (payload: CallFrame["payload"]): CallFrame => ({ event: "call-system", payload });

/** Event frame of a call: its current state or its end. */
export const toCallEventFrame = ({ call, over }: CallUpdate): CallFrame => {
  if (!over) return createCallFrame({ event_type: call.answered_at === null ? "ring" : "answered", data: call });
  const { status, seconds, reason } = over;
  const { call_id, conversation } = call;
  return createCallFrame({
    event_type: status,
    data: { call_id, conversation, seconds, ...(reason ? { reason } : {}) },
  });
};

export const toSignalData = ({ call, conversation, from, to, signal }: CallSignal) => ({
  call_id: call,
  conversation,
  from_device: from,
  to_device: to,
  signal,
});

export const toSignalFrame = (signal: CallSignal): CallFrame =>
  createCallFrame({ event_type: "signal", data: toSignalData(signal) });
