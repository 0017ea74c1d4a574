import { describe, expect, it } from "vitest";
import { callHeartbeatMs } from "#contract/limits/calls.ts";
import { makeCallPair } from "#tests/support/model/call-pair.ts";

/** Heartbeats that report how long a device has received nothing from the other one. */
const makeTalk = async () => {
  const pair = await makeCallPair(3); // with delays in which no two requests overtake each other
  const { time, server, ben, ana, connectCall } = pair;
  await connectCall();
  const from = time.now;
  const beatsOf = (user: string) =>
    server.heartbeats
      .filter((beat) => beat.user === user && beat.at >= from)
      .map(({ at, unheard }) => ({ at: Math.round((at - from) / 1_000), unheard }));
  return { ...pair, bens: () => beatsOf(ben), anas: () => beatsOf(ana) };
};

describe("a device that receives nothing from the other one", () => {
  it("reports the duration every five seconds, and nothing while both sides receive media", async () => {
    const { time, a, bens } = await makeTalk();
    await time.pass(2 * callHeartbeatMs);
    expect(bens().map(({ unheard }) => unheard)).toEqual([undefined, undefined]);
    const before = bens().length;
    a.kill();
    await time.pass(19_000);
    const reports = bens().slice(before);
    expect(reports).toHaveLength(3);
    for (const { at, unheard } of reports)
      expect(Math.abs(at * 1_000 - 2 * callHeartbeatMs - (unheard ?? 0))).toBeLessThan(1_600);
  });

  it("withdraws the report as soon as media arrives again, and does not report a short gap", async () => {
    const { time, anaBrowser, bens } = await makeTalk();
    anaBrowser.setOffline(true);
    await time.pass(4_000);
    anaBrowser.setOffline(false);
    await time.pass(2_000);
    expect(bens()).toEqual([]);
    anaBrowser.setOffline(true);
    await time.pass(12_000);
    anaBrowser.setOffline(false);
    await time.pass(2_000);
    const unheardFlags = bens().map(({ unheard }) => unheard !== undefined);
    expect(unheardFlags.at(-1)).toBe(false);
    expect(unheardFlags.filter((isLost) => isLost).length).toBeGreaterThan(0);
  });
});

describe("a device that could reach neither the server nor the other one", () => {
  it("sends a heartbeat as soon as it can", async () => {
    const { time, server, anaBrowser, anas } = await makeTalk();
    anaBrowser.setOffline(true);
    await time.pass(10_300);
    expect(anas()).toEqual([]);
    server.heartbeats.length = 0;
    anaBrowser.retryMs = 100;
    anaBrowser.setOffline(false);
    await time.pass(700);
    expect(anas()).toHaveLength(1);
  });
});

describe("a page that was reloaded in a call", () => {
  it("sends a heartbeat at once", async () => {
    const { time, a, anas } = await makeTalk();
    await time.pass(6_000);
    const again = await a.reload();
    await time.pass(3_000);
    expect(again.phase).toBe("connected");
    expect(anas()).toMatchObject([{ unheard: undefined }]);
  });
});

describe("a call in which one side falls silent", () => {
  it.each([
    { how: "who waits hangs up", waitMs: 12_000 },
    { how: "who waits gives up", waitMs: 25_000 },
  ])("has the connected duration as its duration when $how", async ({ waitMs }) => {
    const { time, server, a, b } = await makeTalk();
    const talkedMs = time.now + 10_000 - (server.open[0]?.answered_at ?? 0);
    await time.pass(10_000);
    a.kill();
    await time.pass(waitMs);
    b.controller.handleUserAction({ type: "hangUp" });
    await time.pass(1_000);
    const [line] = server.callEntries;
    expect(line?.status).toBe("ended");
    expect(Math.abs((line?.seconds ?? 0) * 1_000 - talkedMs)).toBeLessThanOrEqual(1_500);
  });
});
