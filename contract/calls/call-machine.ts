import type { ErrorCode } from "#contract/errors.ts";
import type { ConversationId, Uuid } from "#contract/ids.ts";
import { callConnectMs, callRingMs, callVerdictMs } from "#contract/limits.ts";
import type { Call, CallKind, CallReason, CallStatus, Device } from "./call.ts";

/**
 * What a device makes of a call (SPEC.md §4), as a table of states and events. It decides and does nothing: what is to
 * be done are the `deeds` of a step. Every pair of a state and an event has an outcome; those that mean nothing there
 * leave the state as it is.
 */
export type CallPlace = {
  id: Uuid;
  conversation: ConversationId;
  peer: Uuid;
  kind: CallKind;
  isCaller: boolean;
};

export type CallState =
  | { at: "idle" }
  /** `isKnown`: the server has it. `isHeard`: a device of the other person said that it rings. */
  | { at: "outgoing"; call: CallPlace; until: number; isKnown: boolean; isHeard?: true }
  | { at: "ringing"; call: CallPlace; until: number }
  /** Answered, by this device or at the other end, and nothing is heard yet; `since`: it was before the page was loaded anew. */
  | { at: "connecting"; call: CallPlace; until: number; since?: number | undefined }
  /** `lostAt`: since when nothing is heard. */
  | { at: "connected"; call: CallPlace; since: number; lostAt?: number | undefined }
  /** `isElsewhere`: for this device alone, since another one of the same person took it. */
  | {
      at: "ended";
      call: CallPlace;
      status: CallStatus;
      seconds: number;
      reason?: CallReason | undefined;
      isElsewhere?: true;
    };

/** Why something could not be done: the server's word, or that it was not reached. */
export type CallError = ErrorCode | "offline" | undefined;

/** Times of calls in events are by the clock that `stepCall` is given. */
export type CallEvent =
  | { type: "dial"; call: CallPlace }
  /** The server's answer to `create`: it may be the other's call, already answered. */
  | { type: "created"; call: Call; device: Device }
  | { type: "notCreated"; error: CallError }
  | { type: "ring"; call: Call }
  | { type: "rings" } // where the other person is
  | { type: "accept" }
  | { type: "accepted"; call: Call }
  | { type: "notAccepted"; error: CallError }
  | { type: "answered"; call: Call; device: Device }
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

export type CallNotice = "inProgress" | "rejected" | "unanswered" | "busy" | "failed" | "acceptFailed" | "error";

export type CallDeed =
  | { do: "create" | "answer" }
  /** `at`: when it really was over. */
  | { do: "end"; status: CallStatus; reason?: CallReason; at?: number }
  | { do: "tone"; tone: "ringback" | "ringtone" | "busy" | "none" }
  /** `open`: microphone and camera, where `prepare` only makes ready because somebody else calls. */
  | { do: "media"; media: "prepare" | "open" | "start" | "stop" }
  | { do: "say"; notice: CallNotice; error?: CallError }
  | { do: "ask" }; // how does this call stand

export type CallStep = { state: CallState; deeds: CallDeed[] };

const none = (state: CallState): CallStep => ({ state, deeds: [] });

const placeOf = ({ call_id, conversation, from, to, type }: Call, isCaller: boolean): CallPlace => ({
  id: call_id,
  conversation,
  peer: isCaller ? to : from,
  kind: type,
  isCaller,
});

/** The end of a call is shown, and everything of it stops. */
const over = (
  call: CallPlace,
  end: { status: CallStatus; seconds?: number; reason?: CallReason | undefined; isElsewhere?: true },
  deeds: CallDeed[] = [],
): CallStep => ({
  state: { at: "ended", call, seconds: 0, ...end },
  deeds: [media("stop"), { do: "tone", tone: end.reason === "busy" ? "busy" : "none" }, ...deeds],
});

const takenElsewhere = (call: CallPlace): CallStep => over(call, { status: "ended", isElsewhere: true });

const connecting = (call: CallPlace, now: number, deeds: CallDeed[], since?: number): CallStep => ({
  state: { at: "connecting", call, until: now + callConnectMs, ...(since === undefined ? {} : { since }) },
  deeds: [{ do: "tone", tone: "none" }, ...deeds],
});

const media = (media: "prepare" | "open" | "start" | "stop"): CallDeed => ({ do: "media", media });

/** Where a call stood when its page was loaded anew. */
const rejoin = ({ call: told, isCaller, since }: Extract<CallEvent, { type: "rejoin" }>, now: number): CallStep => {
  const call = placeOf(told, isCaller);
  const isAnswered = told.answered_at !== null;
  if (!isCaller) return connecting(call, now, [media("open"), isAnswered ? media("start") : { do: "answer" }], since);
  if (isAnswered) return connecting(call, now, [media("prepare"), media("start")], since);
  const state: CallState = { at: "outgoing", call, until: told.created_at + callRingMs, isKnown: true };
  return { state, deeds: [media("prepare"), { do: "tone", tone: "ringback" }] };
};

/** What the server said of the end of this call. */
const hear = (call: CallPlace, event: Extract<CallEvent, { type: "over" }>, deeds: CallDeed[] = []): CallStep =>
  over(call, { status: event.status, seconds: event.seconds, reason: event.reason }, deeds);

const secondsSince = (since: number, now: number): number => Math.max(0, Math.round((now - since) / 1000));

const idle = (state: CallState, event: CallEvent, now: number): CallStep => {
  if (event.type === "dial") {
    const state: CallState = { at: "outgoing", call: event.call, until: Number.POSITIVE_INFINITY, isKnown: false };
    return { state, deeds: [media("prepare"), { do: "tone", tone: "ringback" }, { do: "create" }] };
  }
  if (event.type === "rejoin") return rejoin(event, now);
  if (event.type === "ring") {
    const call = placeOf(event.call, false);
    const until = event.call.created_at + callRingMs;
    return {
      state: { at: "ringing", call, until },
      deeds: [{ do: "tone", tone: "ringtone" }, media("prepare")],
    };
  }
  return none(state);
};

const outgoing = (state: Extract<CallState, { at: "outgoing" }>, event: CallEvent, now: number): CallStep => {
  const { call } = state;
  switch (event.type) {
    case "created": {
      const { call: told, device } = event;
      if (told.answered_at === null) return none({ ...state, isKnown: true, until: told.created_at + callRingMs });
      // The other one called at the same moment: theirs is the call, and this device talks in it.
      const isMine = (told.call_id === call.id ? told.from_device : told.to_device) === device;
      return isMine ? connecting(placeOf(told, told.call_id === call.id), now, [media("start")]) : takenElsewhere(call);
    }
    case "notCreated":
      return over(call, { status: "cancelled", reason: "failed" }, [
        { do: "say", notice: "failed", error: event.error },
      ]);
    case "rings":
      return none({ ...state, isHeard: true });
    case "answered":
      return event.call.call_id === call.id ? connecting(call, now, [media("start")]) : none(state);
    case "hangUp":
      return over(call, { status: "missed" }, [{ do: "end", status: "missed" }]);
    case "over": {
      if (event.id !== call.id) return none(state);
      const notice = event.reason ?? (event.status === "rejected" ? "rejected" : "unanswered");
      return hear(call, event, [{ do: "say", notice }]);
    }
    case "time":
      if (now >= state.until + callVerdictMs) return { state: { ...state, until: now }, deeds: [{ do: "ask" }] };
      return none(state);
    case "failed":
      return over(call, { status: "missed", reason: "failed" }, [
        { do: "end", status: "missed", reason: "failed" },
        { do: "say", notice: "error" },
      ]);
    default:
      return none(state);
  }
};

const ringing = (state: Extract<CallState, { at: "ringing" }>, event: CallEvent, now: number): CallStep => {
  const { call } = state;
  switch (event.type) {
    case "accept":
      // Media start with the server's word, so that of two devices that accept only one is heard.
      return connecting(call, now, [media("open"), { do: "answer" }]);
    case "reject":
      return over(call, { status: "rejected" }, [
        { do: "end", status: "rejected" },
        { do: "say", notice: "rejected" },
      ]);
    case "answered": // on another device of mine
      return event.call.call_id === call.id ? takenElsewhere(call) : none(state);
    case "hangUp":
      return over(call, { status: "missed" }, [{ do: "end", status: "missed" }]);
    case "over":
      return event.id === call.id ? hear(call, event) : none(state);
    case "time":
      if (now >= state.until + callVerdictMs) return { state: { ...state, until: now }, deeds: [{ do: "ask" }] };
      return now >= state.until ? { state, deeds: [{ do: "tone", tone: "none" }] } : none(state);
    default:
      return none(state);
  }
};

const underWay = (
  state: Extract<CallState, { at: "connecting" | "connected" }>,
  event: CallEvent,
  now: number,
): CallStep => {
  const { call } = state;
  const isUp = state.at === "connected";
  const lostAt = isUp ? state.lostAt : undefined;
  const seconds = state.since === undefined ? 0 : secondsSince(state.since, lostAt ?? now);
  const until = lostAt === undefined ? {} : { at: lostAt }; // both were there until then
  const status: CallStatus = state.since === undefined ? "cancelled" : "ended"; // SPEC.md §4
  switch (event.type) {
    case "accepted":
      return isUp ? none(state) : { state, deeds: [media("start")] };
    case "notAccepted":
      if (isUp) return none(state); // who is heard was answered
      if (event.error === "answered_elsewhere") return takenElsewhere(call); // a moment before
      return over(call, { status: "ended" }, [{ do: "say", notice: "acceptFailed", error: event.error }]);
    case "heard":
      if (!isUp)
        return {
          state: { at: "connected", call, since: state.since ?? now },
          deeds: [{ do: "tone", tone: "none" }],
        };
      return lostAt === undefined ? none(state) : none({ at: "connected", call, since: state.since });
    case "interrupted":
      return isUp && lostAt === undefined ? none({ ...state, lostAt: event.at }) : none(state);
    case "failed":
      return over(call, { status, seconds, reason: "failed" }, [
        { do: "end", status, reason: "failed", ...until },
        { do: "say", notice: "error" },
      ]);
    case "hangUp":
    case "left":
      return over(call, { status, seconds }, [{ do: "end", status, ...until }]);
    case "over":
      if (event.id !== call.id) return none(state);
      // The other side found it out first: what it is told there is told here.
      return hear(call, event, event.reason === "failed" ? [{ do: "say", notice: isUp ? "error" : "failed" }] : []);
    case "time":
      if (isUp || now < state.until) return none(state);
      return over(call, { status, seconds, reason: "failed" }, [
        { do: "end", status, reason: "failed" },
        { do: "say", notice: "failed" },
      ]);
    default:
      return none(state);
  }
};

/** A second call while one is there: who dials is told so; one that rings is the server's to answer busy. */
const elsewhere = (state: CallState, event: CallEvent): CallStep | undefined =>
  event.type === "dial" && state.at !== "idle" && state.at !== "ended"
    ? { state, deeds: [{ do: "say", notice: "inProgress" }] }
    : undefined;

export const stepCall = (state: CallState, event: CallEvent, now: number): CallStep => {
  const step = elsewhere(state, event);
  if (step) return step;
  switch (state.at) {
    case "idle":
      return idle(state, event, now);
    case "outgoing":
      return outgoing(state, event, now);
    case "ringing":
      return ringing(state, event, now);
    case "connecting":
    case "connected":
      return underWay(state, event, now);
    case "ended":
      if (event.type !== "leave") return idle(state, event, now);
      return { state: { at: "idle" }, deeds: [{ do: "tone", tone: "none" }] };
  }
};
