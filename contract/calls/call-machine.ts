import { callConnectMs, callServerWaitMs } from "#contract/limits/calls.ts";
import { type Call, type CallReason, type CallStatus, getRingEndsAt } from "./call.ts";
import type { CallEffect, CallEvent, CallState, CallStep, LocalCall } from "./local-call.ts";

/*
 * State machine of a call on one device (SPEC.md §4), as a pure table of states and events (`local-call.ts`): a step
 * returns the next state and the effects to carry out. Every pair of state and event has a defined outcome; an event
 * without meaning in a state leaves it unchanged.
 */

const unchanged = (state: CallState): CallStep => ({ state, effects: [] });

const toLocalCall = ({ call_id, conversation, from, to, type }: Call, isCaller: boolean): LocalCall => ({
  id: call_id,
  conversation,
  peer: isCaller ? to : from,
  kind: type,
  isCaller,
});

/** Ends the call: shows the ended screen and stops media and tones. */
const endCall = (
  call: LocalCall,
  end: { status: CallStatus; seconds?: number; reason?: CallReason | undefined; isElsewhere?: true },
  effects: CallEffect[] = [],
): CallStep => ({
  state: { phase: "ended", call, seconds: 0, ...end },
  effects: [createMediaEffect("stop"), { type: "tone", tone: end.reason === "busy" ? "busy" : "none" }, ...effects],
});

const endElsewhere = (call: LocalCall): CallStep => endCall(call, { status: "ended", isElsewhere: true });

const startConnecting = (call: LocalCall, now: number, effects: CallEffect[], since?: number): CallStep => ({
  state: { phase: "connecting", call, until: now + callConnectMs, ...(since === undefined ? {} : { since }) },
  effects: [{ type: "tone", tone: "none" }, ...effects],
});

const createMediaEffect = (media: "prepare" | "open" | "start" | "stop"): CallEffect => ({ type: "media", media });

/** State of the other person's devices, as far as the server knows it. */
const toPeerState = ({ ring }: Call): { peer?: "ringing" | "asleep" } =>
  ring === undefined ? {} : { peer: ring === "asleep" ? "asleep" : "ringing" };

/** Restores a call after its page was reloaded. */
const stepRejoin = (
  { call: serverCall, isCaller, since }: Extract<CallEvent, { type: "rejoin" }>,
  now: number,
): CallStep => {
  const call = toLocalCall(serverCall, isCaller);
  const isAnswered = serverCall.answered_at !== null;
  if (!isCaller)
    return startConnecting(
      call,
      now,
      [createMediaEffect("open"), isAnswered ? createMediaEffect("start") : { type: "answer" }],
      since,
    );
  if (isAnswered) return startConnecting(call, now, [createMediaEffect("prepare"), createMediaEffect("start")], since);
  const until = getRingEndsAt(serverCall);
  const state: CallState = { phase: "outgoing", call, until, isRegistered: true, ...toPeerState(serverCall) };
  return { state, effects: [createMediaEffect("prepare"), { type: "tone", tone: "ringback" }] };
};

/** Ends the call as reported by the server. */
const endByServer = (
  call: LocalCall,
  event: Extract<CallEvent, { type: "over" }>,
  effects: CallEffect[] = [],
): CallStep => endCall(call, { status: event.status, seconds: event.seconds, reason: event.reason }, effects);

const secondsSince = (since: number, now: number): number => Math.max(0, Math.round((now - since) / 1000));

const stepIdle = (state: CallState, event: CallEvent, now: number): CallStep => {
  if (event.type === "dial") {
    const state: CallState = {
      phase: "outgoing",
      call: event.call,
      until: Number.POSITIVE_INFINITY,
      isRegistered: false,
    };
    return { state, effects: [createMediaEffect("prepare"), { type: "tone", tone: "ringback" }, { type: "create" }] };
  }
  if (event.type === "rejoin") return stepRejoin(event, now);
  if (event.type === "ring") {
    const call = toLocalCall(event.call, false);
    const until = getRingEndsAt(event.call);
    return {
      state: { phase: "ringing", call, until },
      effects: [{ type: "tone", tone: "ringtone" }, createMediaEffect("prepare")],
    };
  }
  return unchanged(state);
};

const stepOutgoing = (state: Extract<CallState, { phase: "outgoing" }>, event: CallEvent, now: number): CallStep => {
  const { call } = state;
  switch (event.type) {
    case "created": {
      const { call: serverCall, device } = event;
      if (serverCall.answered_at === null)
        return unchanged({ ...state, isRegistered: true, until: getRingEndsAt(serverCall) });
      // Glare: the other person's call counts, and this device talks in it.
      const isMine = (serverCall.call_id === call.id ? serverCall.from_device : serverCall.to_device) === device;
      return isMine
        ? startConnecting(toLocalCall(serverCall, serverCall.call_id === call.id), now, [createMediaEffect("start")])
        : endElsewhere(call);
    }
    case "notCreated":
      return endCall(call, { status: "cancelled", reason: "failed" }, [
        { type: "notify", notice: "failed", error: event.error },
      ]);
    case "peerRinging":
      return unchanged({ ...state, peer: "ringing" });
    case "ringChanged": {
      // A device that was heard directly is more certain than the server's impression.
      const known = state.peer === "ringing" ? {} : toPeerState(event.call);
      return unchanged({ ...state, ...known, until: Math.max(state.until, getRingEndsAt(event.call)) });
    }
    case "answered":
      return event.call.call_id === call.id
        ? startConnecting(call, now, [createMediaEffect("start")])
        : unchanged(state);
    case "hangUp":
      return endCall(call, { status: "missed" }, [{ type: "end", status: "missed" }]);
    case "over": {
      if (event.id !== call.id) return unchanged(state);
      const notice = event.reason ?? (event.status === "rejected" ? "rejected" : "unanswered");
      return endByServer(call, event, [{ type: "notify", notice }]);
    }
    case "timeout":
      if (now >= state.until + callServerWaitMs)
        return { state: { ...state, until: now }, effects: [{ type: "checkState" }] };
      return unchanged(state);
    case "failed":
      return endCall(call, { status: "missed", reason: "failed" }, [
        { type: "end", status: "missed", reason: "failed" },
        { type: "notify", notice: "error" },
      ]);
    default:
      return unchanged(state);
  }
};

const stepRinging = (state: Extract<CallState, { phase: "ringing" }>, event: CallEvent, now: number): CallStep => {
  const { call } = state;
  switch (event.type) {
    case "accept":
      // Media start only once the server confirms, so that of two devices that accept only one is heard.
      return startConnecting(call, now, [createMediaEffect("open"), { type: "answer" }]);
    case "reject":
      return endCall(call, { status: "rejected" }, [{ type: "end", status: "rejected" }]);
    case "ringChanged": {
      const until = Math.max(state.until, getRingEndsAt(event.call));
      const isResumed = now >= state.until && now < until;
      return { state: { ...state, until }, effects: isResumed ? [{ type: "tone", tone: "ringtone" }] : [] };
    }
    case "answered": // on another device of this person
      return event.call.call_id === call.id ? endElsewhere(call) : unchanged(state);
    case "hangUp":
      return endCall(call, { status: "missed" }, [{ type: "end", status: "missed" }]);
    case "over":
      return event.id === call.id ? endByServer(call, event) : unchanged(state);
    case "timeout":
      if (now >= state.until + callServerWaitMs)
        return { state: { ...state, until: now }, effects: [{ type: "checkState" }] };
      return now >= state.until ? { state, effects: [{ type: "tone", tone: "none" }] } : unchanged(state);
    default:
      return unchanged(state);
  }
};

/** An ended call stays shown for a moment. It was not declined if another device had answered at the same time. */
const stepEnded = (state: Extract<CallState, { phase: "ended" }>, event: CallEvent, now: number): CallStep => {
  const { call, status } = state;
  if (event.type === "dismiss") return { state: { phase: "idle" }, effects: [{ type: "tone", tone: "none" }] };
  const isAnsweredElsewhere = event.type === "answered" && event.call.call_id === call.id;
  if (isAnsweredElsewhere && status === "rejected" && !call.isCaller) return endElsewhere(call);
  return stepIdle(state, event, now);
};

const stepInCall = (
  state: Extract<CallState, { phase: "connecting" | "connected" }>,
  event: CallEvent,
  now: number,
): CallStep => {
  const { call } = state;
  const isUp = state.phase === "connected";
  const lostAt = isUp ? state.interruptedAt : undefined;
  const seconds = state.since === undefined ? 0 : secondsSince(state.since, lostAt ?? now);
  const until = lostAt === undefined ? {} : { at: lostAt }; // when both sides were last connected
  const status: CallStatus = state.since === undefined ? "cancelled" : "ended"; // SPEC.md §4
  switch (event.type) {
    case "accepted":
      return isUp ? unchanged(state) : { state, effects: [createMediaEffect("start")] };
    case "notAccepted":
      if (isUp) return unchanged(state); // media from the other side prove that the call was answered
      if (event.error === "answered_elsewhere") return endElsewhere(call); // another device of this person was faster
      return endCall(call, { status: "ended" }, [{ type: "notify", notice: "acceptFailed", error: event.error }]);
    case "audioReceived":
      if (!isUp)
        return {
          state: { phase: "connected", call, since: state.since ?? now },
          effects: [{ type: "tone", tone: "none" }],
        };
      return lostAt === undefined ? unchanged(state) : unchanged({ phase: "connected", call, since: state.since });
    case "interrupted":
      return isUp && lostAt === undefined ? unchanged({ ...state, interruptedAt: event.at }) : unchanged(state);
    case "failed":
      return endCall(call, { status, seconds, reason: "failed" }, [
        { type: "end", status, reason: "failed", ...until },
        { type: "notify", notice: "error" },
      ]);
    case "hangUp":
    case "peerHungUp":
      // Both sides report the end, since one of them may not reach the server; the first end counts.
      return endCall(call, { status, seconds }, [{ type: "end", status, ...until }]);
    case "over":
      if (event.id !== call.id) return unchanged(state);
      // The other side noticed the failure first; both sides show the same message.
      return endByServer(
        call,
        event,
        event.reason === "failed" ? [{ type: "notify", notice: isUp ? "error" : "failed" }] : [],
      );
    case "timeout":
      if (isUp || now < state.until) return unchanged(state);
      return endCall(call, { status, seconds, reason: "failed" }, [
        { type: "end", status, reason: "failed" },
        { type: "notify", notice: "failed" },
      ]);
    default:
      return unchanged(state);
  }
};

/** Refuses to dial while a call exists. A second incoming call is answered as busy by the server. */
const refuseSecondDial = (state: CallState, event: CallEvent): CallStep | undefined =>
  event.type === "dial" && state.phase !== "idle" && state.phase !== "ended"
    ? { state, effects: [{ type: "notify", notice: "inProgress" }] }
    : undefined;

export const stepCall = (state: CallState, event: CallEvent, now: number): CallStep => {
  const step = refuseSecondDial(state, event);
  if (step) return step;
  switch (state.phase) {
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
      return stepEnded(state, event, now);
  }
};
