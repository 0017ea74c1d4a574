import type { CallSyncPort } from "#calls/sync-port.ts";
import type { Call, CallBody } from "#contract/calls/call.ts";

/** Converts the times of a call to this device's clock. */
export const withLocalTimes = ({ feed }: Pick<CallSyncPort, "feed">, call: Call): Call => {
  const answered_at = call.answered_at === null ? null : feed.toDeviceTime(call.answered_at);
  return { ...call, created_at: feed.toDeviceTime(call.created_at), answered_at };
};

/** Publishes the end of a call, as returned by the server, to the call feed of this tab. */
export const publishCallEnd = ({ feed }: Pick<CallSyncPort, "feed">, call: Call, logEntry: CallBody): void => {
  const { call_id, conversation } = call;
  feed.publish({ event_type: logEntry.status, data: { call_id, conversation, ...logEntry } });
};
