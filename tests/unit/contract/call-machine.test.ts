import { describe, expect, test } from "vitest";
import type { Call } from "#contract/calls/call.ts";
import { stepCall } from "#contract/calls/call-machine.ts";
import type { CallEvent, CallState, LocalCall } from "#contract/calls/local-call.ts";
import { callConnectMs, callLongRingMs, callRingMs, callServerWaitMs } from "#contract/limits/calls.ts";

const start = 1_000_000;
const now = start + 10_000;
const [ownDevice, peerDevice] = ["own-device", "peer-device"];

const place: LocalCall = { id: "call-1", conversation: "ana.ben", peer: "ben", kind: "audio", isCaller: true };
const call: Call = {
  call_id: "call-1",
  conversation: "ana.ben",
  type: "audio",
  from: "ana",
  to: "ben",
  from_device: ownDevice,
  to_device: null,
  created_at: start,
  answered_at: null,
};
const talked: Call = { ...call, to_device: peerDevice, answered_at: start + 3_000 };
const incoming: LocalCall = { ...place, isCaller: false };
const inbound: Call = { ...call, from: "ben", to: "ana", from_device: peerDevice };
const crossed: Call = { ...inbound, call_id: "call-2", to_device: ownDevice, answered_at: start };

const states = {
  idle: { phase: "idle" },
  outgoing: { phase: "outgoing", call: place, until: start + callRingMs, isRegistered: true },
  ringing: { phase: "ringing", call: incoming, until: start + callRingMs },
  connecting: { phase: "connecting", call: place, until: start + callConnectMs },
  connected: { phase: "connected", call: place, since: start },
  interrupted: { phase: "connected", call: place, since: start, interruptedAt: start + 6_000 },
  ended: { phase: "ended", call: place, status: "ended", seconds: 10 },
} satisfies Record<string, CallState>;
type Named = keyof typeof states;

const events = {
  dial: { type: "dial", call: { ...place, id: "call-9" } },
  created: { type: "created", call, device: ownDevice },
  "created, answered": { type: "created", call: talked, device: ownDevice },
  "created, glare": { type: "created", call: crossed, device: ownDevice },
  "created, glare, on another device": {
    type: "created",
    call: { ...crossed, to_device: "other" },
    device: ownDevice,
  },
  notCreated: { type: "notCreated", error: "not_connected" },
  ring: { type: "ring", call: inbound },
  rings: { type: "peerRinging" },
  "rings, for the server": { type: "ringChanged", call: { ...call, ring: "reported" } },
  asleep: { type: "ringChanged", call: { ...call, ring: "asleep" } },
  woken: { type: "ringChanged", call: { ...call, ring: "woken" } },
  accept: { type: "accept" },
  accepted: { type: "accepted", call: talked },
  notAccepted: { type: "notAccepted", error: "call_not_found" },
  "accepted elsewhere": { type: "notAccepted", error: "answered_elsewhere" },
  answered: { type: "answered", call: talked, device: peerDevice },
  "another answered": { type: "answered", call: { ...talked, call_id: "call-7" }, device: peerDevice },
  "rejoin, ringing": { type: "rejoin", call, isCaller: true, since: undefined },
  "rejoin, talking": { type: "rejoin", call: talked, isCaller: true, since: start + 5_000 },
  "rejoin, not yet answered": { type: "rejoin", call: inbound, isCaller: false, since: undefined },
  "rejoin, answered": { type: "rejoin", call: { ...crossed }, isCaller: false, since: undefined },
  reject: { type: "reject" },
  hangUp: { type: "hangUp" },
  left: { type: "peerHungUp" },
  heard: { type: "audioReceived" },
  interrupted: { type: "interrupted", at: now - 2_000 },
  failed: { type: "failed" },
  missed: { type: "over", id: "call-1", status: "missed", seconds: 0 },
  busy: { type: "over", id: "call-1", status: "missed", seconds: 0, reason: "busy" },
  rejected: { type: "over", id: "call-1", status: "rejected", seconds: 0 },
  ended: { type: "over", id: "call-1", status: "ended", seconds: 7 },
  "failed there": { type: "over", id: "call-1", status: "cancelled", seconds: 0, reason: "failed" },
  "cut off there": { type: "over", id: "call-1", status: "ended", seconds: 7, reason: "failed" },
  "another ended": { type: "over", id: "call-7", status: "ended", seconds: 7 },
  time: { type: "timeout" },
  leave: { type: "dismiss" },
} satisfies Record<string, CallEvent>;
type Event = keyof typeof events;

/** Effect of every event on every state; events that are not listed change nothing. */
const table: Record<Named, Partial<Record<Event, string>>> = {
  idle: {
    dial: "outgoing: media prepare, tone ringback, create",
    ring: "ringing: tone ringtone, media prepare",
    "rejoin, ringing": "outgoing: media prepare, tone ringback",
    "rejoin, talking": "connecting: tone none, media prepare, media start",
    "rejoin, not yet answered": "connecting: tone none, media open, answer",
    "rejoin, answered": "connecting: tone none, media open, media start",
  },
  outgoing: {
    dial: "outgoing: notify inProgress",
    created: "outgoing: ",
    "created, answered": "connecting: tone none, media start",
    "created, glare": "connecting: tone none, media start",
    "created, glare, on another device": "ended ended 0 elsewhere: media stop, tone none",
    notCreated: "ended cancelled 0 failed: media stop, tone none, notify failed not_connected",
    rings: "outgoing: ",
    "rings, for the server": "outgoing: ",
    asleep: "outgoing: ",
    woken: "outgoing: ",
    answered: "connecting: tone none, media start",
    hangUp: "ended missed 0: media stop, tone none, end missed",
    failed: "ended missed 0 failed: media stop, tone none, end missed failed, notify error",
    missed: "ended missed 0: media stop, tone none, notify unanswered",
    busy: "ended missed 0 busy: media stop, tone busy, notify busy",
    rejected: "ended rejected 0: media stop, tone none, notify rejected",
    ended: "ended ended 7: media stop, tone none, notify unanswered",
    "failed there": "ended cancelled 0 failed: media stop, tone none, notify failed",
    "cut off there": "ended ended 7 failed: media stop, tone none, notify failed",
  },
  ringing: {
    dial: "ringing: notify inProgress",
    asleep: "ringing: ",
    woken: "ringing: ",
    accept: "connecting: tone none, media open, answer",
    answered: "ended ended 0 elsewhere: media stop, tone none",
    reject: "ended rejected 0: media stop, tone none, end rejected",
    hangUp: "ended missed 0: media stop, tone none, end missed",
    missed: "ended missed 0: media stop, tone none",
    busy: "ended missed 0 busy: media stop, tone busy",
    rejected: "ended rejected 0: media stop, tone none",
    ended: "ended ended 7: media stop, tone none",
    "failed there": "ended cancelled 0 failed: media stop, tone none",
    "cut off there": "ended ended 7 failed: media stop, tone none",
  },
  connecting: {
    dial: "connecting: notify inProgress",
    accepted: "connecting: media start",
    notAccepted: "ended ended 0: media stop, tone none, notify acceptFailed call_not_found",
    "accepted elsewhere": "ended ended 0 elsewhere: media stop, tone none",
    hangUp: "ended cancelled 0: media stop, tone none, end cancelled",
    left: "ended cancelled 0: media stop, tone none, end cancelled",
    heard: "connected: tone none",
    failed: "ended cancelled 0 failed: media stop, tone none, end cancelled failed, notify error",
    missed: "ended missed 0: media stop, tone none",
    busy: "ended missed 0 busy: media stop, tone busy",
    rejected: "ended rejected 0: media stop, tone none",
    ended: "ended ended 7: media stop, tone none",
    "failed there": "ended cancelled 0 failed: media stop, tone none, notify failed",
    "cut off there": "ended ended 7 failed: media stop, tone none, notify failed",
  },
  connected: {
    dial: "connected: notify inProgress",
    hangUp: "ended ended 10: media stop, tone none, end ended",
    left: "ended ended 10: media stop, tone none, end ended",
    interrupted: "connected interrupted: ",
    failed: "ended ended 10 failed: media stop, tone none, end ended failed, notify error",
    missed: "ended missed 0: media stop, tone none",
    busy: "ended missed 0 busy: media stop, tone busy",
    rejected: "ended rejected 0: media stop, tone none",
    ended: "ended ended 7: media stop, tone none",
    "failed there": "ended cancelled 0 failed: media stop, tone none, notify error",
    "cut off there": "ended ended 7 failed: media stop, tone none, notify error",
  },
  interrupted: {
    dial: "connected interrupted: notify inProgress",
    hangUp: "ended ended 6: media stop, tone none, end ended 1006000",
    left: "ended ended 6: media stop, tone none, end ended 1006000",
    heard: "connected: ",
    failed: "ended ended 6 failed: media stop, tone none, end ended failed 1006000, notify error",
    missed: "ended missed 0: media stop, tone none",
    busy: "ended missed 0 busy: media stop, tone busy",
    rejected: "ended rejected 0: media stop, tone none",
    ended: "ended ended 7: media stop, tone none",
    "failed there": "ended cancelled 0 failed: media stop, tone none, notify error",
    "cut off there": "ended ended 7 failed: media stop, tone none, notify error",
  },
  ended: {
    dial: "outgoing: media prepare, tone ringback, create",
    ring: "ringing: tone ringtone, media prepare",
    "rejoin, ringing": "outgoing: media prepare, tone ringback",
    "rejoin, talking": "connecting: tone none, media prepare, media start",
    "rejoin, not yet answered": "connecting: tone none, media open, answer",
    "rejoin, answered": "connecting: tone none, media open, media start",
    leave: "idle: tone none",
  },
};

const describeState = (state: CallState): string => {
  if (state.phase === "connected") return state.interruptedAt === undefined ? "connected" : "connected interrupted";
  if (state.phase !== "ended") return state.phase;
  const where = state.isElsewhere && "elsewhere";
  return [state.phase, state.status, state.seconds, state.reason, where].filter((word) => word !== undefined).join(" ");
};
const outcome = (state: CallState, event: CallEvent, at = now): string => {
  const step = stepCall(state, event, at);
  return `${describeState(step.state)}: ${step.effects.map((effect) => Object.values(effect).join(" ")).join(", ")}`;
};

describe.each(Object.keys(states) as Named[])("a call on a device that is %s", (name) => {
  const state = states[name];
  test.each(Object.keys(events) as Event[])("handles %s", (event) => {
    const expected = table[name][event];
    if (expected === undefined) expect(stepCall(state, events[event], now)).toEqual({ state, effects: [] });
    else expect(outcome(state, events[event])).toBe(expected);
  });
});

describe("time alone", () => {
  const { time } = events;
  test("requests the state if the server's notice does not arrive", () => {
    const due = start + callRingMs + callServerWaitMs;
    for (const state of [states.outgoing, states.ringing]) {
      expect(stepCall(state, time, due - 1).state).toEqual(state);
      const asked = stepCall(state, time, due);
      expect(asked.effects).toEqual([{ type: "checkState" }]);
      expect(stepCall(asked.state, time, due + 1).effects).not.toContainEqual({ type: "checkState" });
      expect(stepCall(asked.state, time, due + callServerWaitMs).effects).toEqual([{ type: "checkState" }]);
    }
  });
  test("stops the ringing after thirty seconds in any case", () => {
    expect(outcome(states.ringing, time, start + callRingMs)).toBe("ringing: tone none");
  });
  test("ends a call without heartbeats", () => {
    const failed = "ended cancelled 0 failed: media stop, tone none, end cancelled failed, notify failed";
    expect(outcome(states.connecting, time, start + callConnectMs)).toBe(failed);
  });
  test("ends a call that was connected before its page was reloaded as a connected one", () => {
    const state: CallState = { ...states.connecting, since: start - 5_000 };
    const failed = "ended ended 20 failed: media stop, tone none, end ended failed, notify failed";
    expect(outcome(state, time, start + callConnectMs)).toBe(failed);
  });
});

describe("a call whose callee's phone seems asleep", () => {
  const follow = (...steps: CallEvent[]) =>
    steps.reduce<CallState>((state, event) => stepCall(state, event, now).state, states.outgoing);
  test("is shown as such and rings for 45 seconds, and as ringing once a device rings", () => {
    expect(follow(events.asleep)).toEqual({ ...states.outgoing, peer: "asleep", until: start + callLongRingMs });
    const ringing = { ...states.outgoing, peer: "ringing", until: start + callLongRingMs };
    expect(follow(events.asleep, events.woken)).toEqual(ringing);
    expect(follow(events.asleep, events.rings)).toEqual(ringing);
    expect(follow(events["rings, for the server"])).toEqual({ ...states.outgoing, peer: "ringing" });
  });
  test("is not shown as such if a device was heard, although the server was not told", () => {
    expect(follow(events.rings, events.asleep)).toMatchObject({ peer: "ringing", until: start + callLongRingMs });
  });
  test("keeps its state when its page is reloaded", () => {
    const { state } = stepCall(states.idle, { ...events["rejoin, ringing"], call: events.asleep.call }, now);
    expect(state).toMatchObject({ phase: "outgoing", peer: "asleep", until: start + callLongRingMs });
  });
  test("rings longer on the callee's devices, again if they had stopped", () => {
    expect(outcome(states.ringing, events.woken, start + callRingMs - 1)).toBe("ringing: ");
    const late = stepCall(states.ringing, events.woken, start + callRingMs);
    expect(late.state).toMatchObject({ phase: "ringing", until: start + callLongRingMs });
    expect(late.effects).toEqual([{ type: "tone", tone: "ringtone" }]);
    expect(outcome(states.ringing, events["rings, for the server"], start + callRingMs)).toBe("ringing: ");
    const { state } = stepCall(states.idle, { type: "ring", call: { ...inbound, ring: "asleep" } }, now);
    expect(state).toMatchObject({ phase: "ringing", until: start + callLongRingMs });
  });
});

describe("a call whose page was reloaded", () => {
  test("continues counting from when it was connected", () => {
    const since = start - 60_000;
    const { state } = stepCall(states.idle, { type: "rejoin", call: talked, isCaller: true, since }, now);
    expect(state).toMatchObject({ phase: "connecting", call: { isCaller: true, peer: "ben" }, since });
    expect(stepCall(state, events.heard, now).state).toMatchObject({ phase: "connected", since });
    expect(outcome(state, events.hangUp)).toBe("ended ended 70: media stop, tone none, end ended");
  });
  test("rings for the rest of the thirty seconds", () => {
    const { state } = stepCall(states.idle, events["rejoin, ringing"], now);
    expect(state).toMatchObject({ phase: "outgoing", isRegistered: true, until: start + callRingMs });
  });
});
