import { expect, it } from "vitest";
import { makeCallPair } from "#tests/support/model/call-pair.ts";

/** How often this tab's way to the server was tried, and when. */
const watchLooks = (browser: { look(): void }, now: () => number) => {
  const at: number[] = [];
  browser.look = () => {
    at.push(now());
  };
  return at;
};

it("in a call the way to the server is tried again every two seconds, and without one it is left to the back-off", async () => {
  const { time, hers, a, talk, setDead } = await makeCallPair();
  hers.retryMs = 60_000; // its own next try is far away
  await talk();
  const looks = watchLooks(hers, () => time.now);
  a.link.set("connecting");
  await time.pass(9_000);
  const gaps = looks.slice(1).map((at, index) => at - (looks[index] ?? 0));
  expect(looks.length).toBeGreaterThanOrEqual(4);
  expect(Math.max(...gaps)).toBeLessThanOrEqual(2_000);

  a.link.set("online");
  await time.pass(1);
  const before = looks.length;
  await time.pass(20_000);
  expect(looks.length - before).toBe(0);

  a.engine.handleUserAction({ type: "hangUp" });
  await time.pass(3_000);
  setDead(true);
  a.link.set("offline");
  const after = looks.length;
  await time.pass(20_000);
  expect(looks.length).toBe(after);
});
