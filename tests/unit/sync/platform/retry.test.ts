import { expect, it } from "vitest";
import type { Platform } from "#sync/platform/platform.ts";
import { Retry } from "#sync/platform/retry.ts";
import { SyncError } from "#sync/platform/sync-error.ts";
import { VirtualTime } from "#tests/support/model/virtual-time.ts";

/** Work that fails with the given errors in turn and then succeeds. Its clock can be set. */
const makeWork = (...failures: SyncError[]) => {
  const time = new VirtualTime();
  const clock = { offsetMs: 0 };
  const runs: number[] = [];
  const start = time.now;
  const platform = {
    now: () => time.now + clock.offsetMs,
    startTimer: (ms: number, run: () => void) => time.after(ms, run),
    random: () => 1,
  } as Platform;
  const retry = new Retry(platform, async () => {
    runs.push(time.now - start);
    const failure = failures.shift();
    if (failure) throw failure;
    return "done";
  });
  return { time, clock, runs, retry };
};

it("a request to run now ends a back-off, but not a wait that the server named", async () => {
  const { time, runs, retry } = makeWork(new SyncError("offline"), new SyncError("rate_limited", 60_000));
  retry.schedule();
  await time.pass(1);
  retry.runNow();
  await time.pass(1_000);
  retry.runNow();
  retry.schedule();
  await time.pass(120_000);
  expect(runs).toEqual([0, 1, 60_001]);
  retry.runNow();
  await time.pass(1);
  expect(runs).toHaveLength(4);
});

it("a wait whose timer was suspended with the page ends when a run is requested after it", async () => {
  const { time, clock, runs, retry } = makeWork(new SyncError("rate_limited", 60_000));
  retry.schedule();
  await time.pass(1);
  clock.offsetMs = 90_000;
  retry.runNow();
  await time.pass(1);
  expect(runs).toEqual([0, 1]);
});

it("a clock set back does not block later runs", async () => {
  const { time, clock, runs, retry } = makeWork(new SyncError("rate_limited", 60_000));
  retry.schedule();
  await time.pass(60_000);
  clock.offsetMs = -3_600_000;
  retry.runNow();
  await time.pass(1);
  expect(runs).toEqual([0, 60_000, 60_000]);
});
