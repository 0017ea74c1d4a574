import { expect, it } from "vitest";
import type { Uuid } from "#contract/ids.ts";
import { toSimulationSize } from "#tests/support/long-run.ts";
import { ModelBrowser } from "#tests/support/model/model-browser.ts";
import { ModelCalls } from "#tests/support/model/model-calls.ts";
import type { ModelTab } from "#tests/support/model/model-tab.ts";
import { makeSeededRandom, VirtualTime } from "#tests/support/model/virtual-time.ts";

const rounds = toSimulationSize(60, 1_000);

/** The same in every run, because time and random numbers are simulated. */
const idOf = (number: number): Uuid => `01900000-0000-7000-8000-${String(number).padStart(12, "0")}`;

const pick = <T>(random: () => number, list: readonly T[]): T => list[Math.floor(random() * list.length)] as T;

/** One simulated minute of two people with several devices each, on bad networks. */
const live = async (seed: number) => {
  const random = makeSeededRandom(seed);
  const time = new VirtualTime();
  const server = new ModelCalls(time, random);
  const alarm = () => {
    if (!server.isDown) server.applyTimeouts();
    time.after(200, alarm);
  };
  alarm();
  const people: [Uuid, Uuid] = [idOf(1), idOf(2)];
  const chat = server.connect(...people);
  const everybody: ModelTab[] = [];
  const opened = (tab: ModelTab) => {
    everybody.push(tab);
    tab.isVisible = random() < 0.7;
    return tab;
  };
  for (const user of people) {
    for (let count = Math.ceil(random() * 3); count > 0; count--) {
      const browser = new ModelBrowser(server, user);
      browser.clockSkewMs = Math.round((random() - 0.5) * 10 * 3_600_000);
      browser.delayMs = pick(random, [20, 150, 800]);
      browser.lossRate = pick(random, [0, 0.02, 0.1]);
      browser.duplicateRate = pick(random, [0, 0.2]);
      browser.lateRate = pick(random, [0, 0.1]);
      browser.losesPeerMessages = seed % 2 === 0;
      for (let tabs = Math.ceil(random() * 2); tabs > 0; tabs--) opened(await browser.openTab());
    }
  }
  const tabs = () => server.browsers.flatMap((browser) => browser.tabs);
  const act = async (tab: ModelTab) => {
    const chance = random();
    const { browser } = tab;
    if (tab.phase === "idle" && chance < 0.3) tab.dial(chat, browser.user === people[0] ? people[1] : people[0]);
    else if (tab.phase === "ringing" && chance < 0.35) tab.controller.handleUserAction({ type: "accept" });
    else if (tab.phase === "ringing" && chance < 0.4) tab.controller.handleUserAction({ type: "reject" });
    else if (tab.phase !== "idle" && tab.phase !== "ended" && chance < 0.05)
      tab.controller.handleUserAction({ type: "hangUp" });
    else if (chance > 0.98) tab.kill();
    else if (chance > 0.94) opened(await tab.reload());
    else if (chance > 0.9 && !browser.isOffline) {
      browser.setOffline(true);
      time.after(random() * 12_000, () => browser.setOffline(false));
    } else if (chance > 0.885 && !server.isDown) {
      const setServerDown = (isDead: boolean) => {
        server.isDown = isDead;
        for (const each of server.browsers) each.serverChanged();
      };
      setServerDown(true);
      time.after(10_000, () => setServerDown(false));
    }
    if (browser.tabs.length === 0) opened(await browser.openTab());
  };
  for (let step = 0; step < 60; step++) {
    await act(pick(random, tabs()));
    await time.pass(random() * 3_000);
  }
  for (const browser of server.browsers) Object.assign(browser, { lossRate: 0, duplicateRate: 0, lateRate: 0 });
  await time.pass(150_000);
  return { time, server, everybody, tabs };
};

it.each(Array.from({ length: rounds }, (_, index) => index + 1))(
  "in any sequence of faults both sides end up connected or both do not, and every call ends once (seed %i)",
  async (seed) => {
    const { time, server, everybody, tabs } = await live(seed);
    expect(everybody.flatMap(({ violations: faults }) => faults)).toEqual([]);
    const talking = tabs().filter(({ phase }) => phase === "connected");
    expect(tabs().flatMap(({ phase }) => (phase === "idle" || phase === "connected" ? [] : phase))).toEqual([]);
    expect(talking.map(({ browser }) => browser.user).sort()).toEqual(
      server.open.flatMap(({ from, to }) => [from, to].sort()),
    );
    expect(tabs().flatMap(({ tone }) => (tone === "none" ? [] : tone))).toEqual([]);
    const hasMedia = () => everybody.filter((tab) => tab.isAlive && tab.media).map(({ phase }) => phase);
    expect(hasMedia()).toEqual(talking.map(() => "connected"));

    talking[0]?.controller.handleUserAction({ type: "hangUp" });
    await time.pass(10_000);
    expect(tabs().flatMap(({ phase }) => (phase === "idle" ? [] : phase))).toEqual([]);
    expect(hasMedia()).toEqual([]);
    expect(server.callEntries.map(({ id }) => id).sort()).toEqual([...server.createdAt.keys()].sort());
    // Events that a page could not report are reported by the next page of that browser.
    for (const browser of server.browsers) await browser.openTab();
    await time.pass(10_000);
    const kept = server.browsers.flatMap(({ memory }) => [...memory.keys()].filter((key) => key !== "device"));
    expect(kept).toEqual([]);
  },
);
