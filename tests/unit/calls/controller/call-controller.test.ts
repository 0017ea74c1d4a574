import { describe, expect, it } from "vitest";
import { createUuid } from "#contract/ids.ts";
import { callRingMs } from "#contract/limits/calls.ts";
import { expectQuiet, makeCallPair } from "#tests/support/model/call-pair.ts";
import { ModelBrowser } from "#tests/support/model/model-browser.ts";

describe("a call", () => {
  it("rings, is answered, connects and ends on both sides, independent of their clocks", async () => {
    const { time, server, a, b, ring } = await makeCallPair();
    await ring();
    expect([a.tone, b.tone]).toEqual(["ringback", "ringtone"]);
    expect(b.media).toMatchObject({ preconnected: a.device, isOpen: false });
    b.controller.handleUserAction({ type: "accept" });
    await time.pass(2_000);
    expect([a.phase, b.phase]).toEqual(["connected", "connected"]);
    expect([a.tone, b.tone]).toEqual(["none", "none"]);
    expect([a.isGuarded, b.isGuarded]).toEqual([true, true]);
    await time.pass(60_000);
    a.controller.handleUserAction({ type: "hangUp" });
    await time.pass(1_000);
    expect([a.phase, b.phase]).toEqual(["ended", "ended"]);
    await time.pass(2_000);
    expectQuiet(a, b);
    expect(server.callEntries).toMatchObject([{ status: "ended", seconds: 62 }]);
    expect(a.dataUses).toHaveLength(1);
  });

  it("ends as unanswered after thirty seconds", async () => {
    const { time, server, a, b, ring } = await makeCallPair();
    await ring();
    await time.pass(callRingMs - 1_000);
    expect([a.phase, b.phase]).toEqual(["outgoing", "ringing"]);
    await time.pass(1_000);
    expect(a.callNotices).toMatchObject([{ notice: "unanswered" }]);
    await time.pass(3_000);
    expectQuiet(a, b);
    expect(server.callEntries).toMatchObject([{ status: "missed" }]);
  });

  it("shows on both sides that it was declined", async () => {
    const { time, server, a, b, ring } = await makeCallPair();
    await ring();
    b.controller.handleUserAction({ type: "reject" });
    await time.pass(500);
    expect(a.callNotices).toMatchObject([{ notice: "rejected" }]);
    expect(b.view).toMatchObject({ state: { phase: "ended", status: "rejected" } });
    await time.pass(2_500);
    expectQuiet(a, b);
    expect(server.callEntries).toMatchObject([{ status: "rejected" }]);
  });

  it("stays minimised until it ends, and the next call opens in full", async () => {
    const { time, a, connectCall, chat, ben } = await makeCallPair();
    await connectCall();
    a.controller.setMinimized(true);
    expect(a.view?.isMinimized).toBe(true);
    a.controller.setMinimized(false);
    expect(a.view?.isMinimized).toBe(false);
    a.controller.setMinimized(true);
    a.controller.handleUserAction({ type: "hangUp" });
    await time.pass(3_000);
    a.dial(chat, ben);
    await time.pass(500);
    expect(a.view).toMatchObject({ state: { phase: "outgoing" }, isMinimized: false });
  });

  it("without signs of life is given up on both sides, and ends once", async () => {
    const { time, server, anaBrowser, a, b, ring } = await makeCallPair();
    await ring();
    b.controller.handleUserAction({ type: "accept" });
    await time.pass(100);
    anaBrowser.isOffline = true; // The media connection is lost too.
    await time.pass(20_000);
    expect([a.phase, b.phase]).toEqual(["idle", "idle"]);
    anaBrowser.setOffline(false);
    await time.pass(70_000);
    expectQuiet(a, b);
    expect(server.callEntries).toHaveLength(1);
  });
});

describe("a person whose number left them", () => {
  it("is not called before the caller has confirmed it", async () => {
    const { time, server, chat, ben, anaBrowser, a, b } = await makeCallPair();
    anaBrowser.dialRefusal = "number_unconfirmed";
    a.dial(chat, ben);
    await time.pass(500);
    expect(a.callNotices).toMatchObject([{ notice: "failed", error: "number_unconfirmed", peer: ben }]);
    expect([a.phase, b.phase, server.callEntries.length]).toEqual(["idle", "idle", 0]);
    anaBrowser.dialRefusal = undefined;
    a.dial(chat, ben);
    await time.pass(500);
    expect([a.phase, b.phase]).toEqual(["outgoing", "ringing"]);
  });
});

describe("several devices and tabs", () => {
  it("all ring, and stop within a second after one of them answers", async () => {
    const { time, server, ben, chat, a, b } = await makeCallPair();
    const [second, third] = [new ModelBrowser(server, ben), new ModelBrowser(server, ben)];
    const others = [await second.openTab(), await third.openTab()];
    await time.pass(500);
    a.dial(chat, ben);
    await time.pass(500);
    expect([b, ...others].map(({ tone }) => tone)).toEqual(["ringtone", "ringtone", "ringtone"]);
    b.controller.handleUserAction({ type: "accept" });
    await time.pass(1_000);
    for (const tab of others) {
      expect(tab).toMatchObject({
        tone: "none",
        media: undefined,
        view: { state: { phase: "ended", status: "ended" } },
      });
    }
    await time.pass(2_000);
    expectQuiet(...others);
    expect([a.phase, b.phase]).toEqual(["connected", "connected"]);
  });

  it("that decline while an answer is on its way are told that the call was answered elsewhere", async () => {
    const { time, server, ben, chat, a, b } = await makeCallPair();
    const other = await new ModelBrowser(server, ben).openTab();
    await time.pass(500);
    a.dial(chat, ben);
    await time.pass(500);
    b.controller.handleUserAction({ type: "accept" });
    while (server.open.some(({ answered_at }) => answered_at === null)) await time.pass(1);
    expect(other.phase).toBe("ringing"); // the answer is on its way to this device
    other.controller.handleUserAction({ type: "reject" });
    await time.pass(1_000);
    expect(other.view).toMatchObject({ state: { phase: "ended", isElsewhere: true } });
    expect(other.callNotices).toEqual([]);
    await time.pass(1_000);
    expect([a.phase, b.phase]).toEqual(["connected", "connected"]);
  });

  it("that answer at the same moment: one connects, the other is told that the call was answered elsewhere", async () => {
    const { time, server, ben, chat, a, b } = await makeCallPair();
    const other = await new ModelBrowser(server, ben).openTab();
    await time.pass(500);
    a.dial(chat, ben);
    await time.pass(500);
    for (const tab of [b, other]) tab.controller.handleUserAction({ type: "accept" });
    await time.pass(1_000);
    const [silent, talking] = b.phase === "ended" ? [b, other] : [other, b];
    expect(silent.view).toMatchObject({ state: { phase: "ended", isElsewhere: true } });
    expect(silent.callNotices).toEqual([]);
    await time.pass(2_000);
    expect(talking.phase).toBe("connected");
    expectQuiet(silent);
    expect(a.phase).toBe("connected");
  });

  it("of one browser all show the call; one plays sound and holds the connection; another may take it over without a new ring", async () => {
    const { time, ben, chat, benBrowser, a, b } = await makeCallPair();
    b.isVisible = false;
    const seen = await benBrowser.openTab();
    await time.pass(500);
    a.dial(chat, ben);
    await time.pass(1_000);
    expect([b.phase, seen.phase]).toEqual(["ringing", "ringing"]);
    expect([b.tone, seen.tone]).toEqual(["none", "ringtone"]); // the visible tab
    expect([b.mediaSessions.length, seen.mediaSessions.length]).toEqual([0, 1]);
    benBrowser.delayMs = 2_000; // The server's notice arrives late, the notice between tabs does not.
    b.controller.handleUserAction({ type: "accept" });
    await time.pass(100);
    expectQuiet(seen);
    await time.pass(10_000);
    expect([a.phase, b.phase, seen.phase]).toEqual(["connected", "connected", "idle"]);
    expect([b.media?.isOpen, seen.media]).toEqual([true, undefined]);
  });

  it("keep ringing when the ringing tab is closed, and a tab opened meanwhile rings too", async () => {
    const { time, benBrowser, b, ring } = await makeCallPair();
    const other = await benBrowser.openTab();
    await ring();
    expect([b.tone, other.tone].sort()).toEqual(["none", "ringtone"]);
    const [heard, silent] = b.tone === "ringtone" ? [b, other] : [other, b];
    heard.kill();
    await time.pass(100);
    expect(silent.tone).toBe("ringtone");
    const late = await benBrowser.openTab();
    await time.pass(500);
    expect([late.phase, late.tone]).toEqual(["ringing", "none"]);
  });

  it("vibrate without sound if call sounds are off, and the other tabs connect nevertheless", async () => {
    const { time, benBrowser, b, ring } = await makeCallPair();
    const other = await benBrowser.openTab();
    benBrowser.isRingAudible = false;
    await ring();
    expect([b.phase, other.phase]).toEqual(["ringing", "ringing"]);
    expect([b.tone, other.tone].sort()).toEqual(["none", "vibrate"]);
    expect([b, other].filter(({ media: plane }) => plane)).toHaveLength(1);
    b.controller.handleUserAction({ type: "reject" });
    await time.pass(100);
    expect([b.tone, other.tone]).toEqual(["none", "none"]);
  });

  it("of a browser that grants locks slowly can still place and receive calls", async () => {
    const { time, chat, ben, anaBrowser, benBrowser, a, b } = await makeCallPair();
    anaBrowser.lockMs = benBrowser.lockMs = 3_000;
    a.dial(chat, ben);
    await time.pass(4_000);
    expect([a.phase, b.phase]).toEqual(["outgoing", "ringing"]);
    b.controller.handleUserAction({ type: "accept" });
    await time.pass(6_000);
    expect([a.phase, b.phase]).toEqual(["connected", "connected"]);
    expect([a.callNotices, b.callNotices]).toEqual([[], []]);
  });

  it("of one browser cannot have two calls", async () => {
    const { time, ben, chat, anaBrowser, a, b, connectCall } = await makeCallPair();
    const other = await anaBrowser.openTab();
    await connectCall();
    other.dial(chat, ben);
    await time.pass(1_000);
    expect(other.callNotices).toMatchObject([{ notice: "inProgress" }]);
    expect([a.phase, b.phase, other.phase]).toEqual(["connected", "connected", "idle"]);
    a.dial(chat, ben);
    expect(a.callNotices).toMatchObject([{ notice: "inProgress" }]);
    a.controller.handleUserAction({ type: "hangUp" });
    await time.pass(3_000);
    other.dial(chat, ben);
    await time.pass(500);
    expect(other.phase).toBe("outgoing");
  });

  it("can place and receive calls in a browser without locks", async () => {
    const { time, chat, ben, anaBrowser, benBrowser, a, b } = await makeCallPair();
    anaBrowser.hasLocks = false;
    benBrowser.hasLocks = false;
    const [c, d] = [await a.reload(), await b.reload()];
    await time.pass(500);
    c.dial(chat, ben);
    await time.pass(500);
    expect(d).toMatchObject({ phase: "ringing", tone: "ringtone" });
    d.controller.handleUserAction({ type: "accept" });
    await time.pass(2_000);
    expect([c.phase, d.phase]).toEqual(["connected", "connected"]);
    d.controller.handleUserAction({ type: "hangUp" });
    await time.pass(4_000);
    c.dial(chat, ben);
    await time.pass(500);
    expect([c.phase, d.phase]).toEqual(["outgoing", "ringing"]);
  });
});

describe("two callers at once", () => {
  it("who call each other at the same moment are connected in one call", async () => {
    const { time, server, ana, ben, chat, a, b } = await makeCallPair();
    a.dial(chat, ben);
    b.dial(chat, ana);
    await time.pass(3_000);
    expect([a.phase, b.phase]).toEqual(["connected", "connected"]);
    expect(server.open).toHaveLength(1);
    a.controller.handleUserAction({ type: "hangUp" });
    await time.pass(3_000);
    expectQuiet(a, b);
    expect(server.callEntries).toHaveLength(1);
  });

  it("who call each other are connected in one call, however much later the second one dials", async () => {
    for (let laterMs = 0; laterMs <= 120; laterMs += 2) {
      const { time, server, ana, ben, chat, a, b } = await makeCallPair();
      a.dial(chat, ben);
      await time.pass(laterMs);
      b.dial(chat, ana);
      await time.pass(3_000);
      expect([a.phase, b.phase], `${laterMs} ms later`).toEqual(["connected", "connected"]);
      expect([a.callNotices, b.callNotices]).toEqual([[], []]);
      expect(server.open).toHaveLength(1);
    }
  });

  it("who call each other are connected in one call even if the answer to the later request is lost", async () => {
    const { time, server, ana, ben, chat, benBrowser, a, b } = await makeCallPair();
    a.dial(chat, ben);
    await time.pass(15);
    b.dial(chat, ana);
    await time.pass(15);
    benBrowser.isOffline = true; // when the server's answer is sent
    await time.pass(30);
    benBrowser.setOffline(false);
    await time.pass(10_000);
    expect([a.phase, b.phase]).toEqual(["connected", "connected"]);
    expect(server.open).toHaveLength(1);
  });

  it("answer against cancel: the server decides and both sides agree, in two hundred runs", async () => {
    const { time, server, chat, ben, a, b } = await makeCallPair();
    const outcomes = { talked: 0, missed: 0 };
    for (let round = 0; round < 200; round++) {
      a.dial(chat, ben);
      await time.pass(400);
      const both = [
        () => a.controller.handleUserAction({ type: "hangUp" }),
        () => b.controller.handleUserAction({ type: "accept" }),
      ];
      if (round % 2 === 1) both.reverse();
      both[0]?.();
      await time.pass(round % 20);
      both[1]?.();
      await time.pass(5_000);
      expectQuiet(a, b);
      expect(server.open).toEqual([]);
      expect(server.callEntries).toHaveLength(round + 1);
      outcomes[server.callEntries.at(-1)?.status === "missed" ? "missed" : "talked"]++;
    }
    expect(Math.min(outcomes.talked, outcomes.missed)).toBeGreaterThan(10);
  });

  it("the second caller hears the busy tone", async () => {
    const { time, server, ben, b, connectCall } = await makeCallPair();
    const cleo = createUuid();
    const otherTab = server.connect(cleo, ben);
    const c = await new ModelBrowser(server, cleo).openTab();
    await time.pass(500);
    await connectCall();
    c.dial(otherTab, ben);
    await time.pass(1_000);
    expect(c.callNotices).toMatchObject([{ notice: "busy" }]);
    expect(c.tone).toBe("busy");
    expect(b.phase).toBe("connected");
    expect(b.callNotices).toEqual([{ notice: "called", peer: cleo }]);
    await time.pass(2_500);
    expectQuiet(c);
    expect(server.callEntries).toMatchObject([{ status: "missed", reason: "busy" }]);
  });
});
