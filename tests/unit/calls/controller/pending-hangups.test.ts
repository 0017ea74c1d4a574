import { describe, expect, it } from "vitest";
import { expectQuiet, makeCallPair } from "#tests/support/model/call-pair.ts";

describe("hanging up", () => {
  it("ends the call at once on both sides, and notifies the server once it is reachable", async () => {
    const { time, server, a, b, connectCall, setServerDown } = await makeCallPair();
    await connectCall();
    setServerDown(true);
    await time.pass(7_300);
    a.controller.handleUserAction({ type: "hangUp" });
    const anaBrowser = a.view?.state;
    expect(anaBrowser).toMatchObject({ phase: "ended", status: "ended" });
    await time.pass(100);
    const benBrowser = b.view?.state;
    expect(benBrowser).toMatchObject({ phase: "ended", status: "ended" });
    const seconds = [anaBrowser, benBrowser].map((state) => (state?.phase === "ended" ? state.seconds : -1));
    expect(Math.abs((seconds[0] ?? 0) - (seconds[1] ?? 0))).toBeLessThanOrEqual(1); // Each side uses its own clock.
    await time.pass(5_000);
    expectQuiet(a, b);
    setServerDown(false);
    await time.pass(4_000);
    // The call entry does not count the seconds in which the server was unavailable.
    expect(server.callEntries).toMatchObject([{ status: "ended" }]);
    expect(Math.abs((server.callEntries[0]?.seconds ?? 0) - (seconds[0] ?? 0))).toBeLessThanOrEqual(1);
    for (const { browser } of [a, b]) expect([...browser.memory.keys()]).toEqual(["device"]);
  });

  it("is reported with what that side knows: cancelled before anything was heard, or the connected duration", async () => {
    const { time, server, benBrowser, a, b, ring } = await makeCallPair();
    await ring();
    benBrowser.isOffline = true;
    b.controller.handleUserAction({ type: "accept" });
    await time.pass(100);
    b.media?.receiveHangup();
    expect(b.view?.state).toMatchObject({ phase: "ended", status: "cancelled", seconds: 0 });
    benBrowser.setOffline(false);
    await time.pass(40_000);
    expectQuiet(a, b);
    expect(server.open).toEqual([]);
    const talked = await makeCallPair();
    await talked.connectCall();
    talked.setServerDown(true);
    await talked.time.pass(7_300);
    talked.b.media?.receiveHangup();
    expect(talked.b.view?.state).toMatchObject({ phase: "ended", status: "ended", seconds: 8 });
    talked.setServerDown(false);
    await talked.time.pass(4_000);
    expect(talked.server.callEntries).toMatchObject([{ status: "ended" }]);
  });

  it("while the server is unreachable for that side only lets the other side end the call", async () => {
    const { time, server, anaBrowser, a, b, connectCall } = await makeCallPair();
    await connectCall();
    anaBrowser.lossRate = 1;
    a.controller.handleUserAction({ type: "hangUp" });
    await time.pass(200);
    expect(b.phase).toBe("ended");
    expect(server.callEntries).toMatchObject([{ status: "ended" }]);
    anaBrowser.lossRate = 0;
    await time.pass(30_000);
    expectQuiet(a, b);
    expect(server.callEntries).toHaveLength(1);
    expect([...anaBrowser.memory.keys()]).toEqual(["device"]);
  });

  it("that does not reach the server ends the call here at once, and there when the server is back", async () => {
    const { time, server, benBrowser, a, b, connectCall, setServerDown } = await makeCallPair();
    await connectCall();
    benBrowser.losesPeerMessages = true;
    setServerDown(true);
    a.controller.handleUserAction({ type: "hangUp" });
    await time.pass(4_000);
    expectQuiet(a);
    await time.pass(6_000);
    setServerDown(false);
    await time.pass(4_000);
    expectQuiet(b);
    expect(server.callEntries).toMatchObject([{ status: "ended" }]);
  });
});

describe("the end of a call", () => {
  it("is reported even if the page was closed meanwhile", async () => {
    const { time, server, a, b, ring, anaBrowser } = await makeCallPair();
    await ring();
    anaBrowser.setOffline(true);
    a.controller.handleUserAction({ type: "hangUp" });
    await time.pass(100);
    a.kill();
    await time.pass(2_000);
    expect(b.phase).toBe("ringing");
    anaBrowser.setOffline(false);
    await anaBrowser.openTab();
    await time.pass(1_000);
    expect(server.callEntries).toMatchObject([{ status: "missed" }]);
    await time.pass(3_000);
    expectQuiet(b);
    expect([...anaBrowser.memory.keys()]).toEqual(["device"]);
  });

  it("of a closed tab is reported by another tab that was open all the time", async () => {
    const { time, server, a, b, ring, anaBrowser } = await makeCallPair();
    const second = await anaBrowser.openTab();
    await ring();
    anaBrowser.setOffline(true);
    a.controller.handleUserAction({ type: "hangUp" });
    await time.pass(100);
    a.kill();
    await time.pass(6_000);
    expect([b.phase, second.phase]).toEqual(["ringing", "idle"]);
    anaBrowser.setOffline(false);
    await time.pass(1_000);
    expect(server.callEntries).toMatchObject([{ status: "missed" }]);
    await time.pass(3_000);
    expectQuiet(b, second);
    expect([...anaBrowser.memory.keys()]).toEqual(["device"]);
  });
});
