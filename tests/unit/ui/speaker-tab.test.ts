import { expect, test } from "vitest";
import { SpeakerTabLock } from "#features/notifier/speaker-tab-lock.ts";
import type { Platform } from "#sync/platform/platform.ts";

type Hold = (lock: object | null) => Promise<void> | undefined;

/** The locks of one browser, and what its tabs wait for. */
const makeBrowser = () => {
  const held = new Set<string>();
  const waiting: (() => void)[] = [];
  const request = async (name: string, _: object, hold: Hold) => {
    if (held.has(name)) return hold(null);
    held.add(name);
    await hold({});
    held.delete(name);
  };
  const after: Platform["startTimer"] = (_, run) => {
    waiting.push(run);
    return () => {};
  };
  const platform = { locks: { request } as unknown as LockManager, startTimer: after };
  return {
    openTab: (isOld = false) => new SpeakerTabLock({ ...platform, locks: isOld ? undefined : platform.locks }, "news"),
    async passAll() {
      for (const run of waiting.splice(0)) run();
      await new Promise((resolve) => setTimeout(resolve));
    },
  };
};

test("the first tab of a browser that asks holds the turn for a moment, and can renew it", async () => {
  const { openTab, passAll } = makeBrowser();
  const [one, other] = [openTab(), openTab()];
  expect(await Promise.all([one.acquire(), other.acquire()])).toEqual([true, false]);
  expect([await one.acquire(), await other.acquire()]).toEqual([true, false]);
  await passAll();
  expect([await other.acquire(), await one.acquire()]).toEqual([true, false]);
});

test("without locks every tab has the turn", async () => {
  const { openTab } = makeBrowser();
  const [one, other] = [openTab(true), openTab(true)];
  expect([await one.acquire(), await other.acquire()]).toEqual([true, true]);
});
