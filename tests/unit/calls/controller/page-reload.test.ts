import { describe, expect, it } from "vitest";
import { expectQuiet, makeCallPair } from "#tests/support/model/call-pair.ts";
import { ModelBrowser } from "#tests/support/model/model-browser.ts";

describe("a reloaded page", () => {
  it("resumes its call without ringing, and continues its duration", async () => {
    const { time, server, a, b, connectCall } = await makeCallPair();
    await connectCall();
    const since = a.view?.state.phase === "connected" ? a.view.state.since : 0;
    const again = await a.reload();
    await time.pass(5_000);
    expect([again.phase, b.phase]).toEqual(["connected", "connected"]);
    expect(again.view?.state).toMatchObject({ since });
    expect(b.tone).toBe("none");
    const other = await b.reload();
    await time.pass(5_000);
    expect([again.phase, other.phase]).toEqual(["connected", "connected"]);
    again.controller.handleUserAction({ type: "hangUp" });
    await time.pass(4_000);
    expectQuiet(again, other);
    expect(server.callEntries).toHaveLength(1);
  });

  it("continues to dial while the call rings, and continues to answer while it is being answered", async () => {
    const { time, a, b, ring, benBrowser } = await makeCallPair();
    await ring();
    const again = await a.reload();
    await time.pass(500);
    expect([again.phase, again.tone, b.phase]).toEqual(["outgoing", "ringback", "ringing"]);
    benBrowser.isOffline = true;
    b.controller.handleUserAction({ type: "accept" });
    await time.pass(50);
    const other = await b.reload();
    benBrowser.setOffline(false);
    await time.pass(5_000);
    expect([again.phase, other.phase]).toEqual(["connected", "connected"]);
  });

  it("has lost its call after more than twenty seconds, and reports that to the server", async () => {
    const { time, server, anaBrowser, a, b, connectCall } = await makeCallPair();
    await connectCall();
    anaBrowser.isOffline = true;
    a.kill();
    await time.pass(21_000);
    expect(b.phase).not.toBe("connecting");
    anaBrowser.setOffline(false);
    const again = await anaBrowser.openTab(a.storage);
    await time.pass(4_000);
    expectQuiet(again, b);
    expect(again.mediaSessions).toEqual([]);
    expect(server.callEntries).toMatchObject([{ status: "ended" }]);
    expect(again.storage.size).toBe(0);
  });

  it("shows nothing of a call that ended meanwhile", async () => {
    const { time, anaBrowser, a, b, connectCall } = await makeCallPair();
    await connectCall();
    a.kill();
    b.controller.handleUserAction({ type: "hangUp" });
    await time.pass(1_000);
    const again = await anaBrowser.openTab(a.storage);
    await time.pass(1_000);
    expectQuiet(again);
    expect(again.mediaSessions).toEqual([]);
  });

  it("continues counting its call's data usage, and reports the total once", async () => {
    const { time, a, connectCall } = await makeCallPair();
    await connectCall();
    const id = a.view?.state.call.id ?? "";
    a.media?.reportDataUse(400_000);
    await time.pass(5_000); // stored at intervals
    const again = await a.reload();
    await time.pass(3_000);
    expect(again.view?.media.bytes).toBe(400_000);
    again.media?.reportDataUse(50_000);
    expect(again.view?.media.bytes).toBe(450_000);
    again.controller.handleUserAction({ type: "hangUp" });
    expect(again.view).toMatchObject({ state: { phase: "ended" }, media: { bytes: 450_000 } });
    // The highest reported usage of a call counts.
    expect(again.dataUses.every(([call]) => call === id)).toBe(true);
    expect(Math.max(...again.dataUses.map(([, bytes]) => bytes))).toBe(450_000);
  });

  it("reports data usage of a call that cannot be resumed", async () => {
    const { time, anaBrowser, a, connectCall } = await makeCallPair();
    await connectCall();
    a.media?.reportDataUse(400_000);
    await time.pass(5_000);
    a.kill();
    await time.pass(30_000);
    const again = await anaBrowser.openTab(a.storage);
    await time.pass(1_000);
    expect(again.dataUses.map(([, bytes]) => bytes)).toEqual([400_000]);
  });

  it("whose browser lost its sign-in meanwhile ends the call on both sides at once and shows the reason", async () => {
    const { time, server, anaBrowser, a, b, connectCall } = await makeCallPair();
    await connectCall();
    anaBrowser.memory.clear();
    const again = await a.reload();
    await time.pass(1_000);
    expect(again.phase).toBe("idle");
    expect(again.callNotices).toMatchObject([{ notice: "error", peer: b.browser.user }]);
    expect(server.callEntries).toMatchObject([{ status: "ended" }]);
    await time.pass(3_000);
    expectQuiet(again, b);
    expect([...anaBrowser.memory.keys()]).toEqual(["device"]);
  });

  it("that duplicates the calling tab leaves the call to that tab", async () => {
    const { time, anaBrowser, a, b, connectCall } = await makeCallPair();
    await connectCall();
    const copy = await anaBrowser.openTab(new Map(a.storage));
    await time.pass(10_000);
    expectQuiet(copy);
    expect(copy.mediaSessions).toEqual([]);
    expect([a.phase, b.phase]).toEqual(["connected", "connected"]);
  });

  it("that never returns: the other side sees that the connection was lost, and the call ends once", async () => {
    const { time, server, a, b, connectCall } = await makeCallPair();
    await connectCall();
    a.kill();
    await time.pass(5_000);
    expect(b.view?.state).toMatchObject({ phase: "connected", interruptedAt: expect.any(Number) });
    await time.pass(25_000);
    expectQuiet(b);
    expect(server.callEntries).toMatchObject([{ status: "ended", reason: "failed" }]);
  });
});

describe("signing out", () => {
  it("in a call ends the call, and waits until the server knows", async () => {
    const { time, server, a, b, connectCall } = await makeCallPair();
    await connectCall();
    let isEnded = false;
    void a.controller.endCalls().then(() => {
      isEnded = true;
    });
    await time.pass(100);
    expect(isEnded).toBe(true);
    expect(server.callEntries).toMatchObject([{ status: "ended" }]);
    expectQuiet(a);
    await time.pass(3_000);
    expectQuiet(b);
  });

  it("in another tab than the call's ends the call too, after reporting its end", async () => {
    const { time, server, anaBrowser, a, b, connectCall } = await makeCallPair();
    const other = await anaBrowser.openTab();
    await time.pass(500);
    expect(other.controller.isInCall).toBe(false);
    await connectCall();
    expect([a, other].map(({ controller: engine }) => engine.isInCall)).toEqual([true, true]);
    void other.controller.endCalls();
    await time.pass(3_000);
    expect(server.callEntries).toMatchObject([{ status: "ended" }]);
    expectQuiet(a, b, other);
    expect(other.controller.isInCall).toBe(false);
  });

  it("counts as outside of a call once the call has ended, though the server was not notified yet", async () => {
    const { time, anaBrowser, a, connectCall } = await makeCallPair();
    await connectCall();
    anaBrowser.isOffline = true;
    a.controller.handleUserAction({ type: "hangUp" });
    expect(a.controller.isInCall).toBe(false);
    await time.pass(5_000);
    expect(a.phase).toBe("idle");
    expect(a.controller.isInCall).toBe(false);
  });

  it("on one device keeps a call of another device", async () => {
    const { time, server, anaBrowser, ana, a, b, connectCall } = await makeCallPair();
    const tablet = await new ModelBrowser(server, ana).openTab();
    await connectCall();
    expect(tablet.controller.isInCall).toBe(false);
    void tablet.controller.endCalls();
    await time.pass(3_000);
    expect([a.phase, b.phase, anaBrowser.tabs.length]).toEqual(["connected", "connected", 1]);
  });

  it("does not wait forever without network, and leaves the ringing to other devices", async () => {
    const { time, server, benBrowser, a, b, ring } = await makeCallPair();
    await ring();
    benBrowser.setOffline(true);
    const ended = b.controller.endCalls();
    b.controller.stop();
    await time.pass(3_500);
    await ended;
    expectQuiet(b);
    expect([a.phase, server.open.length]).toEqual(["outgoing", 1]);
  });

  it("on another device, which ends the sync session here, stops everything of a call", async () => {
    const { time, a, b, connectCall } = await makeCallPair();
    await connectCall();
    a.controller.stop();
    expectQuiet(a);
    expect(a.view).toBeUndefined();
    await time.pass(30_000);
    expectQuiet(a, b);
    expect(a.storage.size).toBe(0);
  });
});
