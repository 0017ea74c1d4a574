import { describe, expect, it } from "vitest";
import type { CallFeedEvent } from "#sync/connection/call-feed.ts";
import { expectQuiet, makeCallPair } from "#tests/support/model/call-pair.ts";
import { ModelBrowser } from "#tests/support/model/model-browser.ts";

describe("a server that is unavailable for ten seconds", () => {
  it("during dialling: the call rings when the server is back, or fails with a message", async () => {
    for (const revivesAfter of [3_000, 10_000]) {
      const { time, server, a, b, chat, ben, setServerDown } = await makeCallPair();
      setServerDown(true);
      a.dial(chat, ben);
      await time.pass(revivesAfter);
      setServerDown(false);
      await time.pass(4_000);
      if (revivesAfter < 4_000) expect([a.phase, b.phase]).toEqual(["outgoing", "ringing"]);
      else expect(a.callNotices).toMatchObject([{ notice: "failed", error: "offline" }]);
      await time.pass(40_000);
      expectQuiet(a, b);
      expect(server.open).toEqual([]);
      expect(server.callEntries).toHaveLength(server.createdAt.size);
    }
  });

  it("during ringing: the ringing continues and the call can be answered afterwards", async () => {
    const { time, a, b, ring, setServerDown } = await makeCallPair();
    await ring();
    setServerDown(true);
    await time.pass(10_000);
    expect([a.phase, b.phase, b.tone]).toEqual(["outgoing", "ringing", "ringtone"]);
    setServerDown(false);
    await time.pass(1_000);
    b.controller.handleUserAction({ type: "accept" });
    await time.pass(2_000);
    expect([a.phase, b.phase]).toEqual(["connected", "connected"]);
  });

  it("during answering: both sides are connected when the server is back", async () => {
    const { time, server, a, b, ring, setServerDown } = await makeCallPair();
    await ring();
    setServerDown(true);
    b.controller.handleUserAction({ type: "accept" });
    await time.pass(10_000);
    expect([a.phase, b.phase]).toEqual(["outgoing", "connecting"]);
    setServerDown(false);
    await time.pass(5_000);
    expect([a.phase, b.phase]).toEqual(["connected", "connected"]);
    expect(server.open).toHaveLength(1);
  });

  it("during a connected call: the call continues", async () => {
    const { time, a, b, connectCall, setServerDown } = await makeCallPair();
    await connectCall();
    setServerDown(true);
    await time.pass(10_000);
    expect([a.phase, b.phase]).toEqual(["connected", "connected"]);
    setServerDown(false);
    await time.pass(90_000);
    expect([a.phase, b.phase]).toEqual(["connected", "connected"]);
    expectQuiet(...[a, b].filter(({ violations: faults }) => faults.length > 0));
  });

  it("until after the ring timeout: both sides end the call by themselves", async () => {
    const { time, server, a, b, ring, setServerDown } = await makeCallPair();
    await ring();
    setServerDown(true);
    await time.pass(31_000);
    expect([a.phase, b.phase, b.tone]).toEqual(["outgoing", "ringing", "none"]);
    await time.pass(60_000);
    expectQuiet(a, b);
    setServerDown(false);
    await time.pass(5_000);
    expectQuiet(a, b);
    expect(server.callEntries).toMatchObject([{ status: "missed" }]);
  });
});

describe("dialling while the server is unreachable, though there is a network", () => {
  const makeAwayPair = async () => {
    const pair = await makeCallPair();
    pair.anaBrowser.retryMs = 60_000;
    pair.setServerDown(true);
    await pair.time.pass(6_000);
    expect(pair.a.link.get()).toBe("offline");
    return pair;
  };

  it("reconnects at once, and the call rings once as soon as the server is reachable", async () => {
    const { time, server, a, b, chat, ben, setServerDown } = await makeAwayPair();
    setServerDown(false);
    a.dial(chat, ben);
    await time.pass(700);
    expect([a.phase, b.phase, a.link.get()]).toEqual(["outgoing", "ringing", "online"]);
    expect(server.createdAt.size).toBe(1);
    expect(a.callNotices).toEqual([]);
  });

  it("is shown as a call in progress, and rings when the server is back within moments", async () => {
    const { time, server, a, b, chat, ben, anaBrowser, setServerDown } = await makeAwayPair();
    a.dial(chat, ben);
    await time.pass(2_000);
    expect([a.phase, a.callNotices]).toEqual(["outgoing", []]);
    anaBrowser.retryMs = 300;
    setServerDown(false);
    await time.pass(1_500);
    expect([a.phase, b.phase]).toEqual(["outgoing", "ringing"]);
    expect(server.createdAt.size).toBe(1);
  });

  it("reports offline within four seconds, and nothing rings later", async () => {
    const { time, server, a, b, chat, ben, setServerDown } = await makeAwayPair();
    a.dial(chat, ben);
    await time.pass(4_000);
    expect(a.callNotices).toMatchObject([{ notice: "failed", error: "offline", peer: ben }]);
    await time.pass(3_000);
    setServerDown(false);
    await time.pass(60_000);
    expectQuiet(a, b);
    expect(server.createdAt.size).toBe(0);
  });

  it("can be cancelled meanwhile: no error is shown and nothing rings later", async () => {
    const { time, server, a, b, chat, ben, setServerDown } = await makeAwayPair();
    a.dial(chat, ben);
    await time.pass(1_500);
    a.controller.handleUserAction({ type: "hangUp" });
    expect(a.phase).toBe("ended");
    setServerDown(false);
    await time.pass(60_000);
    expectQuiet(a, b);
    expect(a.callNotices).toEqual([]);
    expect(server.open).toEqual([]);
    expect(server.callEntries).toHaveLength(server.createdAt.size);
  });
});

describe("events that cannot be reported now", () => {
  it("dialling without network fails at once, and no call is left behind", async () => {
    const { time, a, chat, ben, anaBrowser, server } = await makeCallPair();
    anaBrowser.setOffline(true);
    a.dial(chat, ben);
    await time.pass(1);
    expect(a.callNotices).toMatchObject([{ notice: "failed", error: "offline", peer: ben }]);
    expectQuiet(a);
    expect(a.mediaSessions).toEqual([]);
    anaBrowser.setOffline(false);
    await time.pass(60_000);
    expect(server.createdAt.size).toBe(0);
  });

  it("network loss during dialling: no call is left ringing at the callee", async () => {
    const { time, server, a, b, chat, ben, anaBrowser } = await makeCallPair();
    a.dial(chat, ben);
    await time.pass(25); // the request is at the server, its answer on the way
    anaBrowser.setOffline(true);
    await time.pass(10_000);
    expect(a.callNotices).toMatchObject([{ notice: "failed" }]);
    expectQuiet(a);
    expect(b.phase).toBe("ringing");
    anaBrowser.setOffline(false);
    await time.pass(5_000);
    expectQuiet(b);
    expect(server.callEntries).toMatchObject([{ status: "missed", reason: "failed" }]);
  });

  it("hanging up before the server knows the call leaves no call behind", async () => {
    for (let after = 0; after < 800; after += 20) {
      const { time, server, anaBrowser, a, b, chat, ben } = await makeCallPair(after);
      anaBrowser.delayMs = 300; // The order of two requests is not guaranteed.
      a.dial(chat, ben);
      await time.pass(after);
      a.controller.handleUserAction({ type: "hangUp" });
      await time.pass(4_000);
      expectQuiet(a, b);
      expect(server.open).toEqual([]);
      expect(server.callEntries).toHaveLength(server.createdAt.size);
    }
  });

  it("declining stops the ringing here at once, and the call that still rings at the server does not ring here again", async () => {
    const { time, server, b, ring, benBrowser } = await makeCallPair();
    const other = await benBrowser.openTab();
    await ring();
    benBrowser.setOffline(true);
    b.controller.handleUserAction({ type: "reject" });
    await time.pass(3_000);
    expectQuiet(b, other);
    await benBrowser.openTab();
    benBrowser.setOffline(false);
    await time.pass(10_000);
    expectQuiet(...benBrowser.tabs);
    expect(server.callEntries).toMatchObject([{ status: "rejected" }]);
  });

  it("a call that the server refused shows the reason", async () => {
    const { time, a, chat, ben, server } = await makeCallPair();
    server.execute = () => ({ error: "not_connected" });
    a.dial(chat, ben);
    await time.pass(200);
    expect(a.callNotices).toMatchObject([{ notice: "failed", error: "not_connected" }]);
    await time.pass(3_000);
    expectQuiet(a);
  });
});

describe("events that are late, duplicated or out of order", () => {
  const recordEvents = async () => {
    const pair = await makeCallPair();
    const { b, ring, server } = pair;
    const heard: CallFeedEvent[] = [];
    b.feed.subscribe((event) => heard.push(structuredClone(event)));
    await ring();
    return { ...pair, heard, id: server.open[0]?.call_id ?? "" };
  };

  it("a duplicated ring rings once", async () => {
    const { time, b, heard } = await recordEvents();
    for (const event of [...heard]) b.receive(event);
    await time.pass(100);
    expect(b.mediaSessions).toHaveLength(1);
    expect(b.phase).toBe("ringing");
  });

  it("an end that arrives before its ring suppresses the ring", async () => {
    const { time, server, a, b, chat, ben, id } = await recordEvents();
    a.controller.handleUserAction({ type: "hangUp" });
    await time.pass(4_000);
    const late = await b.reload();
    await time.pass(500);
    late.receive({ event_type: "missed", data: { call_id: id, conversation: chat, seconds: 0 } });
    const began = server.createdAt.get(id) ?? 0;
    const [from_device, answered_at] = [a.device, null];
    const call = { call_id: id, conversation: chat, type: "audio" as const, from: a.browser.user, to: ben };
    late.receive({
      event_type: "ring",
      data: { ...call, from_device, to_device: null, created_at: began, answered_at },
    });
    await time.pass(500);
    expectQuiet(late);
  });

  it("neither a ring of an ended call nor an old list of active calls restores it", async () => {
    const { time, a, b, heard, server, ben } = await recordEvents();
    const list = server.listOpenCalls(ben);
    a.controller.handleUserAction({ type: "hangUp" });
    await time.pass(4_000);
    expectQuiet(a, b);
    for (const event of [...heard, list]) b.receive(event);
    await time.pass(1_000);
    expectQuiet(b);
  });

  it("a ring older than thirty seconds by the server's clock is not shown", async () => {
    const { time, benBrowser, heard, b } = await recordEvents();
    const ring = heard.find(({ event_type }) => event_type === "ring");
    if (!ring) throw new Error("it did not ring");
    b.kill();
    benBrowser.isOffline = true;
    const late = await benBrowser.openTab();
    late.receive({ event_type: "standing", calls: [], now: time.now + 31_000 });
    late.receive(ring);
    await time.pass(100);
    expect(late.phase).toBe("idle");
  });

  it("an answer that arrives before the response to dialling, and a lost end, are detected", async () => {
    const { time, server, a, b, connectCall } = await makeCallPair();
    await connectCall();
    Object.assign(a.browser, { lossRate: 1, losesPeerMessages: true });
    b.controller.handleUserAction({ type: "hangUp" });
    await time.pass(1_000);
    a.browser.lossRate = 0;
    expect(a.phase).toBe("connected");
    await time.pass(25_000); // The next heartbeat is refused.
    expectQuiet(a, b);
    expect(server.callEntries).toMatchObject([{ status: "ended" }]);
  });
});

describe("an end during a loss of network", () => {
  it("stops the ringing as soon as the network is back", async () => {
    const { time, benBrowser, a, b, ring } = await makeCallPair();
    await ring();
    benBrowser.setOffline(true);
    a.controller.handleUserAction({ type: "hangUp" });
    await time.pass(3_000);
    expect(b.phase).toBe("ringing");
    benBrowser.setOffline(false);
    await time.pass(600);
    expect(b).toMatchObject({ tone: "none", view: { state: { phase: "ended", status: "missed" } } });
  });

  it("stops the ringing of another device too if the call was answered elsewhere meanwhile", async () => {
    const { time, server, ben, benBrowser, chat, a, b } = await makeCallPair();
    const other = await new ModelBrowser(server, ben).openTab();
    await time.pass(500);
    a.dial(chat, ben);
    await time.pass(500);
    benBrowser.setOffline(true);
    other.controller.handleUserAction({ type: "accept" });
    await time.pass(3_000);
    expect(b.phase).toBe("ringing");
    benBrowser.setOffline(false);
    await time.pass(600);
    expect(b).toMatchObject({ phase: "ended", tone: "none" });
    expect([a.phase, other.phase]).toEqual(["connected", "connected"]);
  });
});
