import { describe, expect, it } from "vitest";
import { getRingEndsAt } from "#contract/calls/call.ts";
import {
  applyCallCommand,
  applyCallTimeout,
  type CallTransition,
  findSleepCheckAt,
  getCallTimeoutAt,
  type OpenCall,
  recoverRing,
  toCall,
} from "#contract/calls/open-call.ts";
import { createUuid, privateConversationId } from "#contract/ids.ts";
import { callAsleepMs, callLongRingMs, callRecoverMs, callRingMs } from "#contract/limits/calls.ts";
import { makeSeededRandom } from "#tests/support/model/virtual-time.ts";

/** How long an unanswered call rings, depending on when a device of the callee reports that it rings. */

const [caller, callee] = [0, 1];
const start = 1_000_000;
const heard = { caller: start, callee: start };
const call: OpenCall = {
  id: "call-1",
  kind: "audio",
  caller,
  callerDevice: "phone-1",
  calleeDevice: null,
  createdAt: start,
  answeredAt: null,
  ring: "unreported",
};
const missed = {
  call: null,
  logEntry: { type: "call", id: "call-1", kind: "audio", status: "missed", seconds: 0, reason: "unanswered" },
};
const conversation = privateConversationId(createUuid(), createUuid());

const report = (open: OpenCall, at: number, by = callee) =>
  applyCallCommand(open, by, { type: "reportRing", id: open.id }, at);

describe("the ring of a call", () => {
  it("lasts 45 seconds if no device reports within ten, and not before these are over", () => {
    expect(findSleepCheckAt(call)).toBe(start + callAsleepMs);
    expect(applyCallTimeout(call, heard, start + callAsleepMs - 1)).toBeUndefined();
    const asleep: OpenCall = { ...call, ring: "asleep" };
    expect(applyCallTimeout(call, heard, start + callAsleepMs)).toEqual({ call: asleep });
    expect(findSleepCheckAt(asleep)).toBeUndefined();
    expect(getCallTimeoutAt(asleep, heard)).toBe(start + callLongRingMs);
    expect(applyCallTimeout(asleep, heard, start + callLongRingMs - 1)).toBeUndefined();
    expect(applyCallTimeout(asleep, heard, start + callLongRingMs)).toEqual(missed);
  });

  it("lasts thirty seconds if a device reports in time, whoever checks it how often", () => {
    const reported: OpenCall = { ...call, ring: "reported" };
    expect(report(call, start + callAsleepMs - 1)).toEqual({ call: reported });
    expect(report(reported, start + callAsleepMs + 1)).toEqual({ call: reported });
    for (const at of [callAsleepMs, callRingMs - 1])
      expect(applyCallTimeout(reported, heard, start + at)).toBeUndefined();
    expect(applyCallTimeout(reported, heard, start + callRingMs)).toEqual(missed);
  });

  it("is decided by a restarted object when it knows whether a device rings, at the latest two seconds after the end", () => {
    const unknown: OpenCall = { ...call, ring: "unknown" };
    const latest = start + callRingMs + callRecoverMs;
    expect(applyCallTimeout(unknown, heard, latest - 1)).toBeUndefined();
    expect(applyCallTimeout(unknown, heard, latest)).toEqual(missed);
    expect(recoverRing(unknown, true, latest - 1).ring).toBe("reported");
    expect(recoverRing(unknown, false, start + callAsleepMs - 1).ring).toBe("unreported");
    expect(recoverRing(unknown, false, start + callAsleepMs).ring).toBe("asleep");
    expect(recoverRing(unknown, false, latest - 1).ring).toBe("asleep");
    const others = ["unreported", "reported", "asleep", "woken"] as const;
    for (const ring of others) expect(recoverRing({ ...call, ring }, ring === "unreported", start).ring).toBe(ring);
    expect(applyCallTimeout(call, heard, start + callRingMs)).toEqual(missed);
  });

  it("goes on for its 45 seconds when the phone wakes", () => {
    const woken: OpenCall = { ...call, ring: "woken" };
    expect(report({ ...call, ring: "asleep" }, start + callRingMs + 1)).toEqual({ call: woken });
    expect(report(woken, start + callRingMs + 2)).toEqual({ call: woken });
    expect(getCallTimeoutAt(woken, heard)).toBe(start + callLongRingMs);
  });

  it("is not reported by the caller, for another call, or after the answer", () => {
    expect(report(call, start, caller)).toEqual({ error: "not_allowed" });
    const other = { type: "reportRing", id: "call-2" } as const;
    expect(applyCallCommand(call, callee, other, start)).toEqual({ error: "call_not_found" });
    const answered: OpenCall = { ...call, calleeDevice: "phone-2", answeredAt: start + 1 };
    expect(report(answered, start + 2)).toEqual({ call: answered });
    expect(toCall(conversation, { ...answered, ring: "woken" })).not.toHaveProperty("ring");
  });

  it("is as long for devices as for the server, and what only the server knows is not sent", () => {
    for (const ring of ["unreported", "unknown", "reported", "asleep", "woken"] as const) {
      const sent = toCall(conversation, { ...call, ring });
      const decisionMs = ring === "unknown" ? callRecoverMs : 0; // in which devices wait for the server
      expect(getRingEndsAt(sent) + decisionMs).toBe(getCallTimeoutAt({ ...call, ring }, heard));
      expect(sent.ring).toBe(ring === "unreported" || ring === "unknown" ? undefined : ring);
    }
  });
});

/** An unanswered call with reports and restarts at random times. Returns the entry and what should have happened. */
const ringOut = (seed: number) => {
  const random = makeSeededRandom(seed);
  const times = (most: number) =>
    Array.from({ length: Math.floor(random() * (most + 1)) }, () => start + Math.floor(random() * 50_000));
  const reports = times(3);
  const restarts = times(1);
  const checks = times(5); // by requests, besides those on time
  const decisionMs = 50; // of a restarted object
  const isKnown = ({ ring }: OpenCall) => ring === "asleep" || ring === "woken";
  let open: OpenCall | null = call;
  let [endedAt, entries] = [0, 0];
  for (let now = start; now <= start + 50_000 && open; now++) {
    if (restarts.includes(now) && !isKnown(open)) open = { ...open, ring: "unknown" };
    if (restarts.includes(now - decisionMs)) {
      const isRinging = reports.some((at) => at < now);
      open = recoverRing(open, isRinging, now);
    }
    const isDue: boolean =
      now === findSleepCheckAt(open) || now === getCallTimeoutAt(open, heard) || checks.includes(now);
    const timedOut: CallTransition | undefined = isDue ? applyCallTimeout(open, heard, now) : undefined;
    const reported: CallTransition | undefined = !timedOut && reports.includes(now) ? report(open, now) : undefined;
    const next: CallTransition | undefined = timedOut ?? reported;
    if (!next) continue;
    if ("error" in next) throw new Error(next.error);
    open = next.call;
    if (next.logEntry) entries++;
    if (!open) endedAt = now;
  }
  const decidedAt = restarts.map((at) => (at <= start + callAsleepMs ? at + decisionMs : 0));
  const isLong = !reports.some((at) => at < Math.max(start + callAsleepMs, ...decidedAt));
  return { lasted: endedAt - start, entries, expected: isLong ? callLongRingMs : callRingMs };
};

it("lasts exactly 30 or 45 seconds and has one entry, in any sequence of reports, restarts and checks", () => {
  const lengths = new Set<number>();
  for (let seed = 1; seed <= 100; seed++) {
    const { lasted, entries, expected } = ringOut(seed);
    expect({ seed, lasted, entries }).toEqual({ seed, lasted: expected, entries: 1 });
    lengths.add(lasted);
  }
  expect([...lengths].sort()).toEqual([callRingMs, callLongRingMs]);
});
