import { describe, expect, test } from "vitest";
import { type CallStatus, callStatuses } from "#contract/calls/call.ts";
import {
  applyCallCommand,
  applyCallTimeout,
  type CallCommand,
  getCallTimeoutAt,
  isStale,
  type OpenCall,
  recordPeerLastSeen,
} from "#contract/calls/open-call.ts";
import { callConnectMs, callRingMs, callSilentMaxMs, callStaleMs, callUnreachableMs } from "#contract/limits/calls.ts";

const [ana, ben] = [0, 1];
const [anas, anasLaptop, bens, bensLaptop] = ["ana-1", "ana-2", "ben-1", "ben-2"];
const [first, second] = ["call-1", "call-2"];
const start = 1_000_000;

const create = (id: string, device: string): CallCommand => ({ type: "create", id, kind: "audio", device });
const answer = (id: string, device: string): CallCommand => ({ type: "answer", id, device });
const end = (id: string, device: string, status: CallStatus): CallCommand => ({ type: "end", id, device, status });

const ringing: OpenCall = {
  id: first,
  kind: "audio",
  caller: ana,
  callerDevice: anas,
  calleeDevice: null,
  createdAt: start,
  answeredAt: null,
  ring: "unreported",
};
const answered: OpenCall = { ...ringing, calleeDevice: bens, answeredAt: start + 4_000 };
const line = (status: CallStatus, seconds = 0) => ({ type: "call", id: first, kind: "audio", status, seconds });

describe("a call on the server", () => {
  test("is created once, however often its caller requests it", () => {
    expect(applyCallCommand(null, ana, create(first, anas), start)).toEqual({ call: ringing });
    expect(applyCallCommand(ringing, ana, create(first, anas), start + 900)).toEqual({ call: ringing });
    expect(applyCallCommand(answered, ana, create(first, anas), start + 9_000)).toEqual({ call: answered });
  });

  test("is exclusive: another one of the same caller is refused, and anybody's once connected", () => {
    const refused = { error: "call_in_progress" };
    expect(applyCallCommand(ringing, ana, create(second, anasLaptop), start)).toEqual(refused);
    expect(applyCallCommand(answered, ana, create(second, anas), start)).toEqual(refused);
    expect(applyCallCommand(answered, ben, create(second, bensLaptop), start)).toEqual(refused);
  });

  test("of two simultaneous callers is the first one's, answered by the second", () => {
    const both = applyCallCommand(ringing, ben, create(second, bens), start + 300);
    expect(both).toEqual({ call: { ...ringing, calleeDevice: bens, answeredAt: start + 300 } });
    expect(applyCallCommand(answered, ben, create(second, bens), start + 9_000)).toEqual({ call: answered });
  });

  test("is answered by one device of the callee, which may repeat its answer", () => {
    expect(applyCallCommand(ringing, ben, answer(first, bens), start + 4_000)).toEqual({ call: answered });
    expect(applyCallCommand(answered, ben, answer(first, bens), start + 5_000)).toEqual({ call: answered });
    expect(applyCallCommand(answered, ben, answer(first, bensLaptop), start)).toEqual({ error: "answered_elsewhere" });
    expect(applyCallCommand(ringing, ana, answer(first, anasLaptop), start)).toEqual({ error: "not_allowed" });
  });

  test("with another id, or ended, is not found", () => {
    for (const command of [answer(second, bens), end(second, bens, "ended")]) {
      expect(applyCallCommand(ringing, ben, command, start)).toEqual({ error: "call_not_found" });
      expect(applyCallCommand(null, ben, command, start)).toEqual({ error: "call_not_found" });
    }
  });

  test.each([
    ...callStatuses.map((claim) => ({
      who: "its caller",
      by: ana,
      device: anas,
      call: ringing,
      claim,
      is: "missed" as const,
    })),
    { who: "whom it rings for", by: ben, device: bens, call: ringing, claim: "rejected", is: "rejected" },
    { who: "whom it rings for", by: ben, device: bens, call: ringing, claim: "ended", is: "rejected" },
    { who: "whom it rings for", by: ben, device: bens, call: ringing, claim: "cancelled", is: "rejected" },
    { who: "a talker", by: ben, device: bens, call: answered, claim: "missed", is: "ended" },
    { who: "a talker", by: ben, device: bens, call: answered, claim: "rejected", is: "ended" },
    { who: "a talker", by: ana, device: anas, call: answered, claim: "ended", is: "ended" },
    { who: "a talker, late,", by: ana, device: anas, call: answered, claim: "cancelled", is: "ended" },
  ] as const)("ended by $who as $claim counts as $is", ({ by, device, call, claim, is }) => {
    const seconds = call.answeredAt === null ? 0 : 65;
    const now = (call.answeredAt ?? start) + 65_400;
    expect(applyCallCommand(call, by, end(first, device, claim), now)).toEqual({
      call: null,
      logEntry: line(is, seconds),
    });
  });

  test("is unanswered if it was missed and its caller did not end it", () => {
    const unanswered = { call: null, logEntry: { ...line("missed"), reason: "unanswered" } };
    expect(applyCallCommand(ringing, ben, end(first, bens, "missed"), start)).toEqual(unanswered);
    expect(applyCallCommand(ringing, ana, end(first, anas, "missed"), start)).toEqual({
      call: null,
      logEntry: line("missed"),
    });
  });

  test("whose two sides receive nothing from each other is cancelled, without a duration, within the connection time limit only", () => {
    const claim = end(first, bens, "cancelled");
    const latest = start + 4_000 + 2 * callConnectMs;
    for (const now of [start + 4_000, latest])
      expect(applyCallCommand(answered, ben, claim, now)).toEqual({ call: null, logEntry: line("cancelled") });
    const late = { call: null, logEntry: line("ended", 31) };
    expect(applyCallCommand(answered, ben, claim, latest + 1_000)).toEqual(late);
  });

  test("lasts until the hang-up, though it is reported later; never less than zero, nor shorter by more than two minutes", () => {
    const now = start + 4_000 + 125_000;
    const lasted = (ago: number, at = now) => {
      const next = applyCallCommand(answered, ben, { type: "end", id: first, device: bens, status: "ended", ago }, at);
      return "logEntry" in next ? next.logEntry?.seconds : undefined;
    };
    expect([lasted(0), lasted(9_000), lasted(3_600_000)]).toEqual([125, 116, 5]);
    expect(lasted(30_000, start + 4_000 + 9_000)).toBe(0);
  });

  test("is not ended by a device that only rang once another one is connected", () => {
    const refused = { error: "answered_elsewhere" };
    expect(applyCallCommand(answered, ben, end(first, bensLaptop, "rejected"), start)).toEqual(refused);
    expect(applyCallCommand(answered, ana, end(first, anasLaptop, "ended"), start)).toEqual(refused);
    expect(applyCallCommand(ringing, ben, end(first, bensLaptop, "rejected"), start)).toMatchObject({ call: null });
  });

  test("records in its entry that the callee was busy, or that it failed", () => {
    const busy = applyCallCommand(
      ringing,
      ben,
      { type: "end", id: first, device: bens, status: "missed", reason: "busy" },
      start,
    );
    expect(busy).toEqual({ call: null, logEntry: { ...line("missed"), reason: "busy" } });
    const claim = { type: "end", id: first, status: "missed", reason: "busy" } as const;
    expect(applyCallCommand(ringing, ana, { ...claim, device: anas }, start)).toEqual({
      call: null,
      logEntry: line("missed"),
    });
    expect(applyCallCommand(answered, ben, { ...claim, device: bens }, start + 9_000)).toEqual({
      call: null,
      logEntry: line("ended", 5),
    });
    // A device that declines was present.
    const rejected = { ...claim, device: bens, status: "rejected" } as const;
    expect(applyCallCommand(ringing, ben, rejected, start)).toEqual({ call: null, logEntry: line("rejected") });
  });

  test("whose answer failed before it arrived was missed and failed, not declined", () => {
    for (const status of ["cancelled", "ended", "rejected"] as const) {
      const command = { type: "end", id: first, device: bens, status, reason: "failed" } as const;
      expect(applyCallCommand(ringing, ben, command, start)).toEqual({
        call: null,
        logEntry: { ...line("missed"), reason: "failed" },
      });
      expect(applyCallCommand(answered, ben, command, start + 4_000)).toMatchObject({
        logEntry: { status: status === "cancelled" ? "cancelled" : "ended", reason: "failed" },
      });
    }
  });

  test("is missed after thirty seconds without an answer, by the server's clock", () => {
    const heard = { caller: start, callee: start };
    const reported: OpenCall = { ...ringing, ring: "reported" };
    expect(getCallTimeoutAt(reported, heard)).toBe(start + callRingMs);
    expect(applyCallTimeout(reported, heard, start + callRingMs - 1)).toBeUndefined();
    expect(applyCallTimeout(reported, heard, start + callRingMs)).toEqual({
      call: null,
      logEntry: { ...line("missed"), reason: "unanswered" },
    });
  });

  test("continues while one side sends heartbeats, and ended with the last heartbeat of both", () => {
    const heard = { caller: start + 10_000, callee: start + 64_000 };
    expect(getCallTimeoutAt(answered, heard)).toBe(start + 64_000 + callSilentMaxMs);
    expect(applyCallTimeout(answered, heard, start + 64_000 + callSilentMaxMs - 1)).toBeUndefined();
    expect(applyCallTimeout(answered, heard, start + 500_000)).toEqual({ call: null, logEntry: line("ended", 60) });
  });

  describe("a connected call in which one side receives nothing", () => {
    // Ben last heard Ana at 20 s, and reports it five seconds later.
    const silentAt = start + 20_000;
    const heard = { caller: start + 18_000, callee: silentAt + 5_000 };
    const missed = recordPeerLastSeen(heard, false, silentAt + 5_000, 5_000);

    test("can be left by the unheard side once both are silent for that long, and by nobody else", () => {
      expect(isStale(answered, true, missed, silentAt + callUnreachableMs - 1)).toBe(false);
      expect(isStale(answered, true, missed, silentAt + callUnreachableMs)).toBe(true);
      expect(isStale(answered, false, missed, silentAt + callUnreachableMs)).toBe(false);
      const command = end(first, anasLaptop, "ended");
      expect(applyCallCommand(answered, ana, command, silentAt + callUnreachableMs, missed)).toMatchObject({
        call: null,
      });
    });

    test("continues if the unheard side sends a heartbeat, or the other side receives media again", () => {
      const late = silentAt + callUnreachableMs;
      expect(isStale(answered, true, { ...missed, caller: late - 1 }, late)).toBe(false);
      const again = recordPeerLastSeen(missed, false, late, undefined);
      expect(isStale(answered, true, again, late)).toBe(false);
      expect(isStale(answered, true, again, heard.caller + callStaleMs)).toBe(true);
    });

    test("counts as connected until both sides were last known to be present, whoever ends it and when", () => {
      const late = silentAt + 50_000;
      const talked = { call: null, logEntry: line("ended", 16) };
      expect(applyCallCommand(answered, ben, end(first, bens, "ended"), late, missed)).toEqual(talked);
      expect(applyCallCommand(answered, ana, end(first, anasLaptop, "ended"), late, missed)).toEqual(talked);
      expect(applyCallTimeout(answered, { ...missed, callee: late }, late + callSilentMaxMs)).toEqual(talked);
      // A side that only is not heard was present.
      const there = { ...missed, caller: silentAt + 30_000 };
      expect(applyCallCommand(answered, ben, end(first, bens, "ended"), late, there)).toEqual({
        call: null,
        logEntry: line("ended", 46),
      });
    });
  });
});
