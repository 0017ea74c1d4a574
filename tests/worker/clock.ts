import { vi } from "vitest";

/**
 * Time passes, for the test and for every object. Until the mocks are restored it passes by this alone: how fast the
 * machine is, is nothing a test counts.
 */
export const pass = (ms: number): void => {
  vi.spyOn(Date, "now").mockReturnValue(Date.now() + ms);
};
