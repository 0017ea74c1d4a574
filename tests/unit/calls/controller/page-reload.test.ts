import { describe, expect, it } from "vitest";
import { expectQuiet, makeCallPair } from "#tests/support/model/call-pair.ts";
import { ModelBrowser } from "#tests/support/model/model-browser.ts";

describe("a reloaded page", () => {
  it("resumes its call without ringing, and continues its duration", async () => {
    const { time, server, a, b, talk } = await makeCallPair();
    await talk();
    const since = a.view?.state.at === "connected" ? a.view.state.since : 0;
    const again = await a.reload();
    await time.pass(5_000);
    expect([again.at, b.at]).toEqual(["connected", "connected"]);
    expect(again.view?.state).toMatchObject({ since });
    expect(b.tone).toBe("none");
    const other = await b.reload();
    await time.pass(5_000);
    expect([again.at, other.at]).toEqual(["connected", "connected"]);
    again.controller.handleUserAction({ type: "hangUp" });
    await time.pass(4_000);
    expectQuiet(again, other);
    expect(server.callEntries).toHaveLength(1);
  });

  it("continues to dial while the call rings, and continues to answer while it is being answered", async () => {
    const { time, a, b, ring, his } = await makeCallPair();
    await ring();
    const again = await a.reload();
    await time.pass(500);
    expect([again.at, again.tone, b.at]).toEqual(["outgoing", "ringback", "ringing"]);
    his.isOffline = true;
    b.controller.handleUserAction({ type: "accept" });
    await time.pass(50);
    const other = await b.reload();
    his.setOffline(false);
    await time.pass(5_000);
    expect([again.at, other.at]).toEqual(["connected", "connected"]);
  });

  it("has lost its call after more than twenty seconds, and reports that to the server", async () => {
    const { time, server, hers, a, b, talk } = await makeCallPair();
    await talk();
    hers.isOffline = true;
    a.kill();
    await time.pass(21_000);
    expect(b.at).not.toBe("connecting");
    hers.setOffline(false);
    const again = await hers.openTab(a.storage);
    await time.pass(4_000);
    expectQuiet(again, b);
    expect(again.mediaSessions).toEqual([]);
    expect(server.callEntries).toMatchObject([{ status: "ended" }]);
    expect(again.storage.size).toBe(0);
  });

  it("shows nothing of a call that ended meanwhile", async () => {
    const { time, hers, a, b, talk } = await makeCallPair();
    await talk();
    a.kill();
    b.controller.handleUserAction({ type: "hangUp" });
    await time.pass(1_000);
    const again = await hers.openTab(a.storage);
    await time.pass(1_000);
    expectQuiet(again);
    expect(again.mediaSessions).toEqual([]);
  });

  it("continues counting its call's data usage, and reports the total once", async () => {
    const { time, a, talk } = await makeCallPair();
    await talk();
    const id = a.view?.state.call.id ?? "";
    a.media?.reportDataUse(400_000);
    await time.pass(5_000); // stored at intervals
    const again = await a.reload();
    await time.pass(3_000);
    expect(again.view?.media.bytes).toBe(400_000);
    again.media?.reportDataUse(50_000);
    expect(again.view?.media.bytes).toBe(450_000);
    again.controller.handleUserAction({ type: "hangUp" });
    expect(again.view).toMatchObject({ state: { at: "ended" }, media: { bytes: 450_000 } });
    // The highest reported usage of a call counts.
    expect(again.dataUses.every(([call]) => call === id)).toBe(true);
    expect(Math.max(...again.dataUses.map(([, bytes]) => bytes))).toBe(450_000);
  });

  it("reports data usage of a call that cannot be resumed", async () => {
    const { time, hers, a, talk } = await makeCallPair();
    await talk();
    a.media?.reportDataUse(400_000);
    await time.pass(5_000);
    a.kill();
    await time.pass(30_000);
    const again = await hers.openTab(a.storage);
    await time.pass(1_000);
    expect(again.dataUses.map(([, bytes]) => bytes)).toEqual([400_000]);
  });

  it("whose browser lost its sign-in meanwhile ends the call on both sides at once and shows the reason", async () => {
    const { time, server, hers, a, b, talk } = await makeCallPair();
    await talk();
    hers.memory.clear();
    const again = await a.reload();
    await time.pass(1_000);
    expect(again.at).toBe("idle");
    expect(again.callNotices).toMatchObject([{ notice: "error", peer: b.browser.user }]);
    expect(server.callEntries).toMatchObject([{ status: "ended" }]);
    await time.pass(3_000);
    expectQuiet(again, b);
    expect([...hers.memory.keys()]).toEqual(["device"]);
  });

  it("that duplicates the calling tab leaves the call to that tab", async () => {
    const { time, hers, a, b, talk } = await makeCallPair();
    await talk();
    const copy = await hers.openTab(new Map(a.storage));
    await time.pass(10_000);
    expectQuiet(copy);
    expect(copy.mediaSessions).toEqual([]);
    expect([a.at, b.at]).toEqual(["connected", "connected"]);
  });

  it("that never returns: the other side sees that the connection was lost, and the call ends once", async () => {
    const { time, server, a, b, talk } = await makeCallPair();
    await talk();
    a.kill();
    await time.pass(5_000);
    expect(b.view?.state).toMatchObject({ at: "connected", interruptedAt: expect.any(Number) });
    await time.pass(25_000);
    expectQuiet(b);
    expect(server.callEntries).toMatchObject([{ status: "ended", reason: "failed" }]);
  });
});

describe("signing out", () => {
  it("in a call ends the call, and waits until the server knows", async () => {
    const { time, server, a, b, talk } = await makeCallPair();
    await talk();
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
    const { time, server, hers, a, b, talk } = await makeCallPair();
    const other = await hers.openTab();
    await time.pass(500);
    expect(other.controller.isInCall).toBe(false);
    await talk();
    expect([a, other].map(({ controller: engine }) => engine.isInCall)).toEqual([true, true]);
    void other.controller.endCalls();
    await time.pass(3_000);
    expect(server.callEntries).toMatchObject([{ status: "ended" }]);
    expectQuiet(a, b, other);
    expect(other.controller.isInCall).toBe(false);
  });

  it("counts as outside of a call once the call has ended, though the server was not notified yet", async () => {
    const { time, hers, a, talk } = await makeCallPair();
    await talk();
    hers.isOffline = true;
    a.controller.handleUserAction({ type: "hangUp" });
    expect(a.controller.isInCall).toBe(false);
    await time.pass(5_000);
    expect(a.at).toBe("idle");
    expect(a.controller.isInCall).toBe(false);
  });

  it("on one device keeps a call of another device", async () => {
    const { time, server, hers, ana, a, b, talk } = await makeCallPair();
    const tablet = await new ModelBrowser(server, ana).openTab();
    await talk();
    expect(tablet.controller.isInCall).toBe(false);
    void tablet.controller.endCalls();
    await time.pass(3_000);
    expect([a.at, b.at, hers.tabs.length]).toEqual(["connected", "connected", 1]);
  });

  it("does not wait forever without network, and leaves the ringing to other devices", async () => {
    const { time, server, his, a, b, ring } = await makeCallPair();
    await ring();
    his.setOffline(true);
    const ended = b.controller.endCalls();
    b.controller.stop();
    await time.pass(3_500);
    await ended;
    expectQuiet(b);
    expect([a.at, server.open.length]).toEqual(["outgoing", 1]);
  });

  it("on another device, which ends the sync session here, stops everything of a call", async () => {
    const { time, a, b, talk } = await makeCallPair();
    await talk();
    a.controller.stop();
    expectQuiet(a);
    expect(a.view).toBeUndefined();
    await time.pass(30_000);
    expectQuiet(a, b);
    expect(a.storage.size).toBe(0);
  });
});
