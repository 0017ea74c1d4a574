import { expect, vi } from "vitest";
import type { CallKind } from "#contract/calls/call.ts";
import { createUuid, type Uuid } from "#contract/ids.ts";
import { ModelBrowser } from "./model-browser.ts";
import { ModelCalls } from "./model-calls.ts";
import type { ModelTab } from "./model-tab.ts";
import { makeSeededRandom, VirtualTime } from "./virtual-time.ts";

// Tests need more time on a busy machine.
vi.setConfig({ testTimeout: 30_000 });

/** Two connected people with one tab each, and a server with virtual time. */
export const makeCallPair = async (seed = 1) => {
  const time = new VirtualTime();
  const server = new ModelCalls(time, makeSeededRandom(seed));
  const alarm = () => {
    if (!server.isDown) server.applyTimeouts();
    time.after(100, alarm);
  };
  alarm();
  const [ana, ben]: [Uuid, Uuid] = [createUuid(), createUuid()];
  const chat = server.connect(ana, ben);
  const [anaBrowser, benBrowser] = [new ModelBrowser(server, ana), new ModelBrowser(server, ben)];
  // Neither clock is right.
  anaBrowser.clockSkewMs = 5 * 3_600_000;
  benBrowser.clockSkewMs = -7 * 3_600_000;
  const [a, b] = [await anaBrowser.openTab(), await benBrowser.openTab()];
  await time.pass(500);
  const setServerDown = (isDead: boolean) => {
    server.isDown = isDead;
    for (const browser of server.browsers) browser.serverChanged();
  };
  const ring = async (kind: CallKind = "audio") => {
    a.dial(chat, ben, kind);
    await time.pass(500);
    expect([a.phase, b.phase]).toEqual(["outgoing", "ringing"]);
  };
  const connectCall = async (kind: CallKind = "audio") => {
    await ring(kind);
    b.controller.handleUserAction({ type: "accept" });
    await time.pass(2_000);
    expect([a.phase, b.phase]).toEqual(["connected", "connected"]);
  };
  return { time, server, ana, ben, chat, anaBrowser, benBrowser, a, b, setServerDown, ring, connectCall };
};

/** Checks that nothing of a call remains in these tabs. */
export const expectQuiet = (...tabs: ModelTab[]): void => {
  for (const tab of tabs) {
    expect(tab.violations).toEqual([]);
    expect(tab.phase).toBe("idle");
    expect(tab.tone).toBe("none");
    expect(tab.media).toBeUndefined();
    expect(tab.isGuarded).toBe(false);
  }
};
