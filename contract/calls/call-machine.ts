import type { ErrorCode } from "#contract/errors.ts";
import type { ConversationId, Uuid } from "#contract/ids.ts";
import { callConnectMs, callRingMs, callServerWaitMs } from "#contract/limits.ts";
import type { Call, CallKind, CallReason, CallStatus, DeviceId } from "./call.ts";

/**
 * What a device makes of a call (SPEC.md §4), as a table of states and events. It decides and does nothing: what is to
 * be done are the `deeds` of a step. Every pair of a state and an event has an outcome; those that mean nothing there
 * leave the state as it is.
 */
export type LocalCall = {
  id: Uuid;
  conversation: ConversationId;
  peer: Uuid;
  kind: CallKind;
  isCaller: boolean;
};

export type CallState =
  | { at: "idle" }
  /** `isKnown`: the server has it. `isHeard`: a device of the other person said that it rings. */
  | { at: "outgoing"; call: LocalCall; until: number; isRegistered: boolean; isPeerRinging?: true }
  | { at: "ringing"; call: LocalCall; until: number }
  /** Answered, by this device or at the other end, and nothing is heard yet; `since`: it was before the page was loaded anew. */
  | { at: "connecting"; call: LocalCall; until: number; since?: number | undefined }
  /** `lostAt`: since when nothing is heard. */
  | { at: "connected"; call: LocalCall; since: number; interruptedAt?: number | undefined }
  /** `isElsewhere`: for this device alone, since another one of the same person took it. */
  | {
      at: "ended";
      call: LocalCall;
      status: CallStatus;
      seconds: number;
      reason?: CallReason | undefined;
      isElsewhere?: true;
    };

/** Why something could not be done: the server's word, or that it was not reached. */
export type CallError = ErrorCode | "offline" | undefined;

/** Times of calls in events are by the clock that `stepCall` is given. */
export type CallEvent =
  | { type: "dial"; call: LocalCall }
  /** The server's answer to `create`: it may be the other's call, already answered. */
  | { type: "created"; call: Call; device: DeviceId }
  | { type: "notCreated"; error: CallError }
  | { type: "ring"; call: Call }
  | { type: "rings" } // where the other person is
  | { type: "accept" }
  | { type: "accepted"; call: Call }
  | { type: "notAccepted"; error: CallError }
  | { type: "answered"; call: Call; device: DeviceId }
  /** The page was loaded anew in a call that is still under way; `since`: when it was connected, if it was. */
  | { type: "rejoin"; call: Call; isCaller: boolean; since: number | undefined }
  | { type: "reject" }
  | { type: "hangUp" }
  | { type: "left" } // the other side hung up, and said so itself
  | { type: "heard" } // the other side's media came for the first time, or came back
  | { type: "interrupted"; at: number } // when something was heard last
  | { type: "failed" } // the media cannot be had any more
  | { type: "over"; id: Uuid; status: CallStatus; seconds: number; reason?: CallReason | undefined }
  | { type: "time" }
  | { type: "leave" }; // the screen of an ended call goes

export type CallNoticeType = "inProgress" | "rejected" | "unanswered" | "busy" | "failed" | "acceptFailed" | "error";

export type CallEffect =
  | { do: "create" | "answer" }
  /** `at`: when it really was over. */
  | { do: "end"; status: CallStatus; reason?: CallReason; at?: number }
  | { do: "tone"; tone: "ringback" | "ringtone" | "busy" | "none" }
  /** `open`: microphone and camera, where `prepare` only makes ready because somebody else calls. */
  | { do: "media"; media: "prepare" | "open" | "start" | "stop" }
  | { do: "say"; notice: CallNoticeType; error?: CallError }
  | { do: "ask" }; // how does this call stand

export type CallStep = { state: CallState; effects: CallEffect[] };

const unchanged = (state: CallState): CallStep => ({ state, effects: [] });

const toLocalCall = ({ call_id, conversation, from, to, type }: Call, isCaller: boolean): LocalCall => ({
  id: call_id,
  conversation,
  peer: isCaller ? to : from,
  kind: type,
  isCaller,
});

/** The end of a call is shown, and everything of it stops. */
const endCall = (
  call: LocalCall,
  end: { status: CallStatus; seconds?: number; reason?: CallReason | undefined; isElsewhere?: true },
  deeds: CallEffect[] = [],
): CallStep => ({
  state: { at: "ended", call, seconds: 0, ...end },
  effects: [createMediaEffect("stop"), { do: "tone", tone: end.reason === "busy" ? "busy" : "none" }, ...deeds],
});

const endElsewhere = (call: LocalCall): CallStep => endCall(call, { status: "ended", isElsewhere: true });

const startConnecting = (call: LocalCall, now: number, deeds: CallEffect[], since?: number): CallStep => ({
  state: { at: "connecting", call, until: now + callConnectMs, ...(since === undefined ? {} : { since }) },
  effects: [{ do: "tone", tone: "none" }, ...deeds],
});

const createMediaEffect = (media: "prepare" | "open" | "start" | "stop"): CallEffect => ({ do: "media", media });

/** Where a call stood when its page was loaded anew. */
const stepRejoin = ({ call: told, isCaller, since }: Extract<CallEvent, { type: "rejoin" }>, now: number): CallStep => {
  const call = toLocalCall(told, isCaller);
  const isAnswered = told.answered_at !== null;
  if (!isCaller)
    return startConnecting(
      call,
      now,
      [createMediaEffect("open"), isAnswered ? createMediaEffect("start") : { do: "answer" }],
      since,
    );
  if (isAnswered) return startConnecting(call, now, [createMediaEffect("prepare"), createMediaEffect("start")], since);
  const state: CallState = { at: "outgoing", call, until: told.created_at + callRingMs, isRegistered: true };
  return { state, effects: [createMediaEffect("prepare"), { do: "tone", tone: "ringback" }] };
};

/** What the server said of the end of this call. */
const endByServer = (
  call: LocalCall,
  event: Extract<CallEvent, { type: "over" }>,
  deeds: CallEffect[] = [],
): CallStep => endCall(call, { status: event.status, seconds: event.seconds, reason: event.reason }, deeds);

const secondsSince = (since: number, now: number): number => Math.max(0, Math.round((now - since) / 1000));

const stepIdle = (state: CallState, event: CallEvent, now: number): CallStep => {
  if (event.type === "dial") {
    const state: CallState = { at: "outgoing", call: event.call, until: Number.POSITIVE_INFINITY, isRegistered: false };
    return { state, effects: [createMediaEffect("prepare"), { do: "tone", tone: "ringback" }, { do: "create" }] };
  }
  if (event.type === "rejoin") return stepRejoin(event, now);
  if (event.type === "ring") {
    const call = toLocalCall(event.call, false);
    const until = event.call.created_at + callRingMs;
    return {
      state: { at: "ringing", call, until },
      effects: [{ do: "tone", tone: "ringtone" }, createMediaEffect("prepare")],
    };
  }
  return unchanged(state);
};

const stepOutgoing = (state: Extract<CallState, { at: "outgoing" }>, event: CallEvent, now: number): CallStep => {
  const { call } = state;
  switch (event.type) {
    case "created": {
      const { call: told, device } = event;
      if (told.answered_at === null)
        return unchanged({ ...state, isRegistered: true, until: told.created_at + callRingMs });
      // The other one called at the same moment: theirs is the call, and this device talks in it.
      const isMine = (told.call_id === call.id ? told.from_device : told.to_device) === device;
      return isMine
        ? startConnecting(toLocalCall(told, told.call_id === call.id), now, [createMediaEffect("start")])
        : endElsewhere(call);
    }
    case "notCreated":
      return endCall(call, { status: "cancelled", reason: "failed" }, [
        { do: "say", notice: "failed", error: event.error },
      ]);
    case "rings":
      return unchanged({ ...state, isPeerRinging: true });
    case "answered":
      return event.call.call_id === call.id
        ? startConnecting(call, now, [createMediaEffect("start")])
        : unchanged(state);
    case "hangUp":
      return endCall(call, { status: "missed" }, [{ do: "end", status: "missed" }]);
    case "over": {
      if (event.id !== call.id) return unchanged(state);
      const notice = event.reason ?? (event.status === "rejected" ? "rejected" : "unanswered");
      return endByServer(call, event, [{ do: "say", notice }]);
    }
    case "time":
      if (now >= state.until + callServerWaitMs) return { state: { ...state, until: now }, effects: [{ do: "ask" }] };
      return unchanged(state);
    case "failed":
      return endCall(call, { status: "missed", reason: "failed" }, [
        { do: "end", status: "missed", reason: "failed" },
        { do: "say", notice: "error" },
      ]);
    default:
      return unchanged(state);
  }
};

const stepRinging = (state: Extract<CallState, { at: "ringing" }>, event: CallEvent, now: number): CallStep => {
  const { call } = state;
  switch (event.type) {
    case "accept":
      // Media start with the server's word, so that of two devices that accept only one is heard.
      return startConnecting(call, now, [createMediaEffect("open"), { do: "answer" }]);
    case "reject":
      return endCall(call, { status: "rejected" }, [
        { do: "end", status: "rejected" },
        { do: "say", notice: "rejected" },
      ]);
    case "answered": // on another device of mine
      return event.call.call_id === call.id ? endElsewhere(call) : unchanged(state);
    case "hangUp":
      return endCall(call, { status: "missed" }, [{ do: "end", status: "missed" }]);
    case "over":
      return event.id === call.id ? endByServer(call, event) : unchanged(state);
    case "time":
      if (now >= state.until + callServerWaitMs) return { state: { ...state, until: now }, effects: [{ do: "ask" }] };
      return now >= state.until ? { state, effects: [{ do: "tone", tone: "none" }] } : unchanged(state);
    default:
      return unchanged(state);
  }
};

const stepInCall = (
  state: Extract<CallState, { at: "connecting" | "connected" }>,
  event: CallEvent,
  now: number,
): CallStep => {
  const { call } = state;
  const isUp = state.at === "connected";
  const lostAt = isUp ? state.interruptedAt : undefined;
  const seconds = state.since === undefined ? 0 : secondsSince(state.since, lostAt ?? now);
  const until = lostAt === undefined ? {} : { at: lostAt }; // both were there until then
  const status: CallStatus = state.since === undefined ? "cancelled" : "ended"; // SPEC.md §4
  switch (event.type) {
    case "accepted":
      return isUp ? unchanged(state) : { state, effects: [createMediaEffect("start")] };
    case "notAccepted":
      if (isUp) return unchanged(state); // who is heard was answered
      if (event.error === "answered_elsewhere") return endElsewhere(call); // a moment before
      return endCall(call, { status: "ended" }, [{ do: "say", notice: "acceptFailed", error: event.error }]);
    case "heard":
      if (!isUp)
        return {
          state: { at: "connected", call, since: state.since ?? now },
          effects: [{ do: "tone", tone: "none" }],
        };
      return lostAt === undefined ? unchanged(state) : unchanged({ at: "connected", call, since: state.since });
    case "interrupted":
      return isUp && lostAt === undefined ? unchanged({ ...state, interruptedAt: event.at }) : unchanged(state);
    case "failed":
      return endCall(call, { status, seconds, reason: "failed" }, [
        { do: "end", status, reason: "failed", ...until },
        { do: "say", notice: "error" },
      ]);
    case "hangUp":
    case "left":
      return endCall(call, { status, seconds }, [{ do: "end", status, ...until }]);
    case "over":
      if (event.id !== call.id) return unchanged(state);
      // The other side found it out first: what it is told there is told here.
      return endByServer(
        call,
        event,
        event.reason === "failed" ? [{ do: "say", notice: isUp ? "error" : "failed" }] : [],
      );
    case "time":
      if (isUp || now < state.until) return unchanged(state);
      return endCall(call, { status, seconds, reason: "failed" }, [
        { do: "end", status, reason: "failed" },
        { do: "say", notice: "failed" },
      ]);
    default:
      return unchanged(state);
  }
};

/** A second call while one is there: who dials is told so; one that rings is the server's to answer busy. */
const refuseSecondDial = (state: CallState, event: CallEvent): CallStep | undefined =>
  event.type === "dial" && state.at !== "idle" && state.at !== "ended"
    ? { state, effects: [{ do: "say", notice: "inProgress" }] }
    : undefined;

export const stepCall = (state: CallState, event: CallEvent, now: number): CallStep => {
  const step = refuseSecondDial(state, event);
  if (step) return step;
  switch (state.at) {
    case "idle":
      return stepIdle(state, event, now);
    case "outgoing":
      return stepOutgoing(state, event, now);
    case "ringing":
      return stepRinging(state, event, now);
    case "connecting":
    case "connected":
      return stepInCall(state, event, now);
    case "ended":
      if (event.type !== "leave") return stepIdle(state, event, now);
      return { state: { at: "idle" }, effects: [{ do: "tone", tone: "none" }] };
  }
};
