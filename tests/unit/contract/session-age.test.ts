import { expect, it } from "vitest";
import { isRecentlyConfirmed } from "#contract/auth/session-age.ts";

const hourMs = 3_600_000;

it.each([
  ["now", 0, true],
  ["23 hours ago", 23 * hourMs, true],
  ["25 hours ago", 25 * hourMs, false],
  ["in the future, because the clock was set back", -hourMs, false],
])("what a session shows that was confirmed %s", (_, agoMs, expected) => {
  const now = Date.now();
  expect(isRecentlyConfirmed(now - agoMs, now)).toBe(expected);
});
