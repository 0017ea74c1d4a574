import { describe, expect, it } from "vitest";
import { ConnectionMonitor, type ConnectionSample, type MonitorAction } from "#calls/media/connection-monitor.ts";

const talking: ConnectionSample = {
  state: "connected",
  packets: 0,
  isAudioExpected: true,
  isPeerGone: false,
  isStarted: true,
};

/** A peer connection sampled twice a second; packets arrive unless stated otherwise. */
const makeWay = () => {
  const watch = new ConnectionMonitor(0);
  let now = 0;
  let packets = 0;
  const run = (seconds: number, facts: Partial<ConnectionSample> = {}, isComing = true): [number, MonitorAction][] => {
    const actions: [number, MonitorAction][] = [];
    const from = now;
    for (const until = now + seconds * 1000; now < until; ) {
      now += 500;
      if (isComing) packets += 8;
      for (const action of watch.check({ ...talking, packets, ...facts }, now))
        actions.push([(now - from) / 1000, action]);
    }
    return actions;
  };
  return { watch, run, now: () => now };
};
const silent = false;

describe("a working connection", () => {
  it("is not restarted", () => {
    expect(makeWay().run(600)).toEqual([]);
  });

  it("is not restarted while no audio is expected, because it is not sent or has not started", () => {
    expect(makeWay().run(600, { isAudioExpected: false }, silent)).toEqual([]);
  });

  it("is not restarted while it is disconnected for less than a second", () => {
    const { run } = makeWay();
    run(5);
    expect(run(1, { state: "disconnected" })).toEqual([]);
    expect(run(5)).toEqual([]);
  });
});

describe("a failing connection", () => {
  it("is restarted after two seconds without a packet, and then every four seconds", () => {
    const { run } = makeWay();
    run(10);
    expect(run(13, {}, silent)).toEqual([
      [2, "interrupted"],
      [2, "restartIce"],
      [6, "restartIce"],
      [10, "restartIce"],
    ]);
  });

  it("counts as silent since the last packet, also during a restart; without an expected packet, since it was missed", () => {
    const { watch, run, now } = makeWay();
    run(10);
    run(5, {}, silent);
    watch.onRebuilt(now());
    run(3, { packets: 0, state: "connecting" }, silent);
    expect(watch.getSilentMs(now())).toBe(8_000);
    run(5);
    run(60, { isAudioExpected: false }, silent);
    run(4, { isAudioExpected: false, state: "disconnected" }, silent);
    expect(watch.getSilentMs(now())).toBeLessThan(4_000);
  });

  it("is replaced after three restarts", () => {
    const { run } = makeWay();
    run(10);
    expect(run(15, {}, silent).at(-1)).toEqual([14, "rebuild"]);
    expect(run(12, {}, silent).map(([, action]) => action)).toEqual(["restartIce", "restartIce", "restartIce"]);
  });

  it("is reported as working with the first packet, and then monitored as before", () => {
    const { run } = makeWay();
    run(10);
    run(5, {}, silent);
    expect(run(2)).toEqual([[0.5, "recovered"]]);
    expect(run(3, {}, silent)[0]).toEqual([2, "interrupted"]);
  });

  it("is restarted a second after it was disconnected, and at once when it failed", () => {
    const first = makeWay();
    first.run(5);
    expect(first.run(2, { state: "disconnected" }).slice(0, 2)).toEqual([
      [1.5, "interrupted"],
      [1.5, "restartIce"],
    ]);
    const second = makeWay();
    second.run(5);
    expect(second.run(1, { state: "failed" }).slice(0, 2)).toEqual([
      [0.5, "interrupted"],
      [0.5, "restartIce"],
    ]);
  });

  it("that never connects is restarted after six seconds, whether it reports connecting or nothing", () => {
    for (const state of ["new", "connecting"] as const) {
      const actions = makeWay().run(8, { state, isAudioExpected: false }, silent);
      expect(actions.map(([, action]) => action)).toEqual(["interrupted", "restartIce"]);
      expect(actions[0]?.[0]).toBeGreaterThanOrEqual(6);
    }
  });

  it("is given up after a minute, once", () => {
    const { run } = makeWay();
    run(10);
    const actions = run(120, {}, silent);
    expect(actions.filter(([, action]) => action === "failed")).toEqual([[62, "failed"]]);
    expect(actions.at(-1)?.[1]).toBe("failed");
  });

  it("is given up after twenty seconds if the other page reported that it is closing", () => {
    const { run } = makeWay();
    run(10);
    expect(run(60, { isPeerGone: true }, silent).at(-1)).toEqual([22, "failed"]);
  });

  it("is reported after two seconds if the other page is closing, not before: a reloaded page is back by then", () => {
    const { run } = makeWay();
    run(10, { isAudioExpected: false });
    expect(run(1.5, { isPeerGone: true, isAudioExpected: true }, silent)).toEqual([]);
    expect(run(1, { isPeerGone: true, isAudioExpected: true }, silent)[0]).toEqual([1, "interrupted"]);
  });

  it("is retried without limit and without a report while the call only rings", () => {
    const actions = makeWay().run(120, { state: "connecting", isAudioExpected: false, isStarted: false }, silent);
    expect(new Set(actions.map(([, action]) => action))).toEqual(new Set(["restartIce", "rebuild"]));
  });

  it("counts its minute from the moment both sides are connected", () => {
    const { run } = makeWay();
    run(30, { state: "connecting", isAudioExpected: false, isStarted: false }, silent);
    const failed = run(90, { state: "connecting", isAudioExpected: false }, silent).find(
      ([, action]) => action === "failed",
    );
    expect(failed?.[0]).toBeGreaterThanOrEqual(59);
  });
});

describe("a network", () => {
  it("triggers an ICE restart at once when it returns", () => {
    const { watch, run, now } = makeWay();
    run(10);
    watch.onNetworkChange(true, now());
    expect(run(1)).toEqual([[0.5, "restartIce"]]);
  });

  it("that returns shortens the wait for the next retry", () => {
    const { watch, run, now } = makeWay();
    run(10);
    run(3, {}, silent); // tried at 2 s, the next attempt is due at 6 s
    watch.onNetworkChange(true, now());
    expect(run(1, {}, silent)).toEqual([[0.5, "restartIce"]]);
  });

  it("that may have changed makes one second without a packet enough for a restart", () => {
    const { watch, run, now } = makeWay();
    run(10);
    watch.onNetworkChange(false, now());
    expect(run(1.5, {}, silent)).toEqual([
      [1, "interrupted"],
      [1, "restartIce"],
    ]);
  });

  it("that may have changed but carries packets causes no restart", () => {
    const { watch, run, now } = makeWay();
    run(10);
    watch.onNetworkChange(false, now());
    expect(run(20)).toEqual([]);
  });
});

describe("a replaced connection", () => {
  it("has its own time to connect, but the time limit of the failure goes on", () => {
    const { watch, run, now } = makeWay();
    run(10);
    run(14, {}, silent);
    watch.onRebuilt(now());
    const actions = run(60, { state: "new", packets: 0 }, silent);
    expect(actions.find(([, action]) => action === "failed")?.[0]).toBe(48);
  });
});
