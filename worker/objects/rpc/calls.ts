import type { DeviceId } from "#contract/calls/call.ts";
import type { CallCommand } from "#contract/calls/open-call.ts";
import type { ConversationId, Uuid } from "#contract/ids.ts";
import type { Refusal } from "#contract/wire/commands.ts";
import type { CallRecord } from "#worker/objects/shared/call-record.ts";

/** State of a call and its version. `isStale`: the device on the asking member's side seems gone. */
export type CallSnapshot = { call: CallRecord; version: number; isStale: boolean };
/** Device that sends a heartbeat, and for how many milliseconds it has received nothing from the peer. */
export type CallHeartbeat = { device?: DeviceId | undefined; peerSilentMs?: number | undefined };
export type CallSignal = {
  call: Uuid;
  conversation: ConversationId;
  from: DeviceId;
  to: DeviceId | null;
  signal: string;
};

/** Methods of a Conversation for the call of a private conversation. */
export interface CallRpc {
  /** Applies a member's command to the call of a private conversation and returns the new state. */
  runCallCommand(user: Uuid, command: CallCommand, session?: Uuid): Promise<CallSnapshot | Refusal>;
  /** Ends a call that rings for this member with reason "busy", also one hidden from them. */
  refuseCallAsBusy(user: Uuid, call: Uuid): Promise<CallSnapshot | Refusal>;
  /** Ends the member's outgoing call if nobody answered yet. */
  cancelCall(user: Uuid, call: Uuid): Promise<CallSnapshot | Refusal>;
  /** Ends the member's side of the call if one of these sessions holds it. */
  endCallOfSessions(user: Uuid, ended: Uuid[] | "all"): Promise<CallSnapshot | Refusal>;
  /** State of the open or last call as this member may see it. `isRinging`: the call rings on a device of theirs. */
  getCallState(user: Uuid, call: Uuid, isRinging?: boolean): Promise<CallSnapshot | Refusal>;
  /** Records that one side of the call is alive. False if the call is not open or another device holds that side. */
  recordCallHeartbeat(user: Uuid, call: Uuid, heartbeat: CallHeartbeat): Promise<boolean>;
}
