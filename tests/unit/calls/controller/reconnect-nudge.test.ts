import { expect, it } from "vitest";
import { makeCallPair } from "#tests/support/model/call-pair.ts";

/** Times of this tab's connection attempts to the server. */
const watchConnectionChecks = (browser: { checkConnection(): void }, now: () => number) => {
  const at: number[] = [];
  browser.checkConnection = () => {
    at.push(now());
  };
  return at;
};

it("reconnects every two seconds during a call, and with the usual back-off otherwise", async () => {
  const { time, anaBrowser, a, connectCall, setServerDown } = await makeCallPair();
  anaBrowser.retryMs = 60_000; // The next regular attempt is far away.
  await connectCall();
  const checks = watchConnectionChecks(anaBrowser, () => time.now);
  a.link.set("connecting");
  await time.pass(9_000);
  const gaps = checks.slice(1).map((at, index) => at - (checks[index] ?? 0));
  expect(checks.length).toBeGreaterThanOrEqual(4);
  expect(Math.max(...gaps)).toBeLessThanOrEqual(2_000);

  a.link.set("online");
  await time.pass(1);
  const before = checks.length;
  await time.pass(20_000);
  expect(checks.length - before).toBe(0);

  a.controller.handleUserAction({ type: "hangUp" });
  await time.pass(3_000);
  setServerDown(true);
  a.link.set("offline");
  const after = checks.length;
  await time.pass(20_000);
  expect(checks.length).toBe(after);
});
