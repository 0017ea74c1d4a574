import { afterEach, expect, it, vi } from "vitest";
import { mustConfirmSession } from "#lib/session/session-age.ts";

const hourMs = 3_600_000;

afterEach(() => vi.unstubAllGlobals());

it.each([
  ["an hour ago", hourMs, true, false],
  ["23 hours ago", 23 * hourMs, true, false],
  ["25 hours ago", 25 * hourMs, true, true],
  ["25 hours ago, without a network", 25 * hourMs, false, false],
  ["in the future, because the clock was set back", -hourMs, true, true],
])("a session that the server confirmed %s", (_, agoMs, onLine, expected) => {
  vi.stubGlobal("navigator", { onLine });
  expect(mustConfirmSession(Date.now() - agoMs)).toBe(expected);
});
