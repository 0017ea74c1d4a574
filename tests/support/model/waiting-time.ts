import { vi } from "vitest";
import type { Tab } from "#sync/tabs/tab.ts";

/** The phone's time passes by what is waited for alone: how fast the machine is, is nothing that is counted. */
export const passByWaiting = ({ platform }: Tab): void => {
  const { after } = platform;
  let now = platform.now();
  vi.spyOn(platform, "now").mockImplementation(() => now);
  vi.spyOn(platform, "after").mockImplementation((ms, run) => {
    const due = now + ms;
    return after(ms, () => {
      now = Math.max(now, due);
      run();
    });
  });
};
