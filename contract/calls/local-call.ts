import type { ErrorCode } from "#contract/errors.ts";
import type { ConversationId, Uuid } from "#contract/ids.ts";
import type { Call, CallKind, CallReason, CallStatus, DeviceId, ReportedReason } from "./call.ts";

// States, events and effects of a call on one device. `call-machine.ts` defines the steps between them.

/** Call as seen by one device. */
export type LocalCall = {
  id: Uuid;
  conversation: ConversationId;
  peer: Uuid;
  kind: CallKind;
  isCaller: boolean;
};

export type CallState =
  | { phase: "idle" }
  /**
   * `isRegistered`: the server has the call. `peer`: a device of the other person reported that it rings, or none did
   * and the phone seems asleep.
   */
  | {
      phase: "outgoing";
      call: LocalCall;
      until: number;
      isRegistered: boolean;
      peer?: "ringing" | "asleep" | undefined;
    }
  | { phase: "ringing"; call: LocalCall; until: number }
  /**
   * Answered by either side, and no media received yet. `since`: when the call was connected before the page was
   * reloaded.
   */
  | { phase: "connecting"; call: LocalCall; until: number; since?: number | undefined }
  /** `interruptedAt`: since when no media arrives. */
  | { phase: "connected"; call: LocalCall; since: number; interruptedAt?: number | undefined }
  /** `isElsewhere`: ended only for this device, because another device of the same person took the call. */
  | {
      phase: "ended";
      call: LocalCall;
      status: CallStatus;
      seconds: number;
      reason?: CallReason | undefined;
      isElsewhere?: true;
    };

/** Reason of a failed request: the server's error code, or `offline` if it was not reached. */
export type CallError = ErrorCode | "offline" | "number_unconfirmed" | undefined;

/** Events of the machine. Call times in them use the clock that is passed to `stepCall`. */
export type CallEvent =
  | { type: "dial"; call: LocalCall }
  /** Response of the server to dialling. It may be the other person's call, already answered (glare). */
  | { type: "created"; call: Call; device: DeviceId }
  | { type: "notCreated"; error: CallError }
  | { type: "ring"; call: Call }
  | { type: "peerRinging" } // reported by a device of the other person
  | { type: "ringChanged"; call: Call } // the server knows more of the other person's devices, or the call rings longer
  | { type: "accept" }
  | { type: "accepted"; call: Call }
  | { type: "notAccepted"; error: CallError }
  | { type: "answered"; call: Call; device: DeviceId }
  /** The page was reloaded during a call that still exists. `since`: when it was connected, if it was. */
  | { type: "rejoin"; call: Call; isCaller: boolean; since: number | undefined }
  | { type: "reject" }
  | { type: "hangUp" }
  | { type: "peerHungUp" } // the other side hung up and reported it directly, not through the server
  | { type: "audioReceived" } // media of the other side arrived, for the first time or again
  | { type: "interrupted"; at: number } // `at`: when media last arrived
  | { type: "failed" } // the media connection cannot be established or restored
  | { type: "over"; id: Uuid; status: CallStatus; seconds: number; reason?: CallReason | undefined }
  | { type: "timeout" }
  | { type: "dismiss" }; // the screen of an ended call is dismissed

export type CallNoticeType = "inProgress" | "rejected" | "unanswered" | "busy" | "failed" | "acceptFailed" | "error";

export type CallEffect =
  | { type: "create" | "answer" }
  /** Reports the end to the server. `at`: when the call really ended, if earlier. */
  | { type: "end"; status: CallStatus; reason?: ReportedReason; at?: number }
  | { type: "tone"; tone: "ringback" | "ringtone" | "busy" | "none" }
  /**
   * `prepare` sets up the media session while the other person is dialled or this device rings; `open` asks for
   * microphone and camera.
   */
  | { type: "media"; media: "prepare" | "open" | "start" | "stop" }
  | { type: "notify"; notice: CallNoticeType; error?: CallError }
  | { type: "checkState" }; // request the state of the call from the server

export type CallStep = { state: CallState; effects: CallEffect[] };
