import { describe, expect, it } from "vitest";
import type { Call, CallSignals } from "#contract/calls/call.ts";
import { createUuid, privateConversationId } from "#contract/ids.ts";
import type { CallFeedEvent } from "#sync/connection/call-feed.ts";
import { CallPoller } from "#sync/connection/call-polling.ts";
import { SyncError } from "#sync/platform/sync-error.ts";
import { VirtualTime } from "#tests/support/model/virtual-time.ts";

const makeRing = (): Call => {
  const [from, to] = [createUuid(), createUuid()];
  const place = { call_id: createUuid(), conversation: privateConversationId(from, to), type: "audio" as const };
  return { ...place, from, to, from_device: createUuid(), to_device: null, created_at: 1, answered_at: null };
};

const makePoller = () => {
  const time = new VirtualTime();
  const ring = makeRing();
  const { call_id, conversation, from_device } = ring;
  const news: CallFeedEvent[] = [];
  const asked: string[] = [];
  const server: { answer: CallSignals | SyncError; gone: number } = {
    answer: { call: ring, signals: [], at: 0 },
    gone: 0,
  };
  const platform = {
    now: () => time.now,
    startTimer: (ms: number, run: () => void) => time.after(ms, run),
    request: async ({ path }: { path: string }) => {
      asked.push(path);
      await time.wait(20);
      if (server.answer instanceof SyncError) throw server.answer;
      return structuredClone(server.answer);
    },
  };
  const poller = new CallPoller(platform, {
    onCallEvent: (event) => news.push(event),
    onCallGone: () => server.gone++,
  });
  const say = (signal: string, at: number) => {
    const signalEvent = { call_id, conversation, from_device, to_device: null, signal };
    server.answer = { call: ring, signals: [signalEvent], at };
  };
  return { time, ring, news, asked, server, poller, say };
};

describe("polling of a call without a socket", () => {
  it("polls every second from the last position, and reports each event once", async () => {
    const { time, ring, news, asked, server, poller, say } = makePoller();
    poller.follow(ring.call_id);
    poller.follow(ring.call_id);
    await time.pass(500);
    expect(news).toEqual([{ event_type: "ring", data: ring }]);
    say("me voici", 7);
    await time.pass(1_000);
    expect(news.slice(1)).toMatchObject([{ event_type: "signal", data: { signal: "me voici" } }]);
    server.answer = { call: { ...ring, answered_at: 9 }, signals: [], at: 7 };
    await time.pass(2_000);
    expect(news.slice(2)).toMatchObject([{ event_type: "answered" }]);
    expect(asked.map((path) => path.replace(/.*after=/, ""))).toEqual(["0", "0", "7", "7"]);
  });

  it("polls less often after a long time without events, and at once when an event is likely", async () => {
    const { time, ring, asked, poller } = makePoller();
    poller.follow(ring.call_id);
    await time.pass(40_000);
    const before = asked.length;
    await time.pass(50_000);
    expect(asked.length - before).toBe(10);
    poller.pollNow();
    await time.pass(5_000);
    expect(asked.length - before).toBe(15);
  });

  it("polls again after a failure, and stops when the call ended or a socket is open", async () => {
    const { time, ring, asked, server, poller } = makePoller();
    server.answer = new SyncError("offline");
    poller.follow(ring.call_id);
    await time.pass(3_500);
    expect([asked.length, server.gone]).toEqual([4, 0]);
    server.answer = new SyncError("call_not_found");
    await time.pass(10_000);
    expect([asked.length, server.gone]).toEqual([5, 1]);
    poller.follow(ring.call_id);
    poller.stop();
    await time.pass(10_000);
    expect([asked.length, server.gone]).toEqual([6, 1]);
  });
});
