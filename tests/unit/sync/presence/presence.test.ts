import { describe, expect, it, vi } from "vitest";
import { presencePollMs, presenceStaleMs } from "#contract/limits/people.ts";
import type { Presence } from "#contract/settings/settings.ts";
import { PresencePoller } from "#sync/presence/presence-poller.ts";
import { eventually } from "#tests/support/model/eventually.ts";
import type { ModelDevice } from "#tests/support/model/model-device.ts";
import { makeDevice, makePair } from "#tests/support/model/model-fixtures.ts";

const isLooked = (phone: ModelDevice) => phone.sockets.at(-1)?.isForeground;
const comesToBe = (phone: ModelDevice, isOn: boolean) => eventually(() => expect(isLooked(phone)).toBe(isOn));

describe("reporting that a device is visible", () => {
  it("visibility is reported after the welcome frame, when the page is hidden, and when it is visible again", async () => {
    const { server, amina } = makePair();
    const phone = makeDevice(server, amina);
    await phone.openTab();
    await comesToBe(phone, true);
    phone.enterBackground();
    await comesToBe(phone, false);
    phone.enterForeground();
    await comesToBe(phone, true);
    expect(phone.sockets.at(-1)?.foregroundReports).toBe(3);
  });

  it("a page opened in the background reports nothing", async () => {
    const { server, amina } = makePair();
    const phone = makeDevice(server, amina);
    phone.isVisible = false;
    const tab = await phone.openTab();
    await eventually(() => expect(tab.link.get()).toBe("online"));
    await phone.pass(presenceStaleMs);
    expect(phone.sockets.at(-1)?.foregroundReports).toBe(0);
  });

  it("it is reported again over the next socket, and once while nothing changes", async () => {
    const { server, amina } = makePair();
    const phone = makeDevice(server, amina);
    await phone.openTab();
    await comesToBe(phone, true);
    const [first] = phone.sockets;
    first?.end(1006);
    await eventually(() => expect(phone.sockets.length).toBeGreaterThan(1));
    await comesToBe(phone, true);
    await phone.pass(2 * presenceStaleMs);
    expect(phone.sockets.at(-1)?.foregroundReports).toBe(1);
  });

  it("a visible tab makes the device visible, whichever holds the socket, and a closed one does not count", async () => {
    const { server, amina } = makePair();
    const phone = makeDevice(server, amina);
    const leader = await phone.openTab();
    await eventually(() => expect(leader.isLeader).toBe(true));
    await comesToBe(phone, true);
    const other = await phone.openTab();
    // Both are hidden; then the tab without the socket becomes visible.
    phone.enterBackground();
    await comesToBe(phone, false);
    phone.putToSleep(leader);
    phone.enterForeground();
    await phone.pass(100);
    expect(leader.isLeader || other.isLeader).toBe(true);
    await comesToBe(phone, true);
  });

  it("closing one of two visible tabs keeps the device visible, and closing both does not", async () => {
    const { server, amina } = makePair();
    const phone = makeDevice(server, amina);
    const leader = await phone.openTab();
    await eventually(() => expect(leader.isLeader).toBe(true));
    const other = await phone.openTab();
    await comesToBe(phone, true);
    await phone.close(other);
    await phone.pass(presenceStaleMs);
    expect(isLooked(phone)).toBe(true);
    phone.enterBackground();
    await comesToBe(phone, false);
  });
});

describe("polling a person's presence", () => {
  const here: Presence = { here: true, seen_at: null };
  const nothing: Presence = { here: false, seen_at: null };
  const farMs = 24 * 3_600_000;

  const begin = async () => {
    const { server, amina, chat } = makePair();
    const phone = makeDevice(server, amina);
    const tab = await phone.openTab();
    const results: (Presence | undefined)[] = [];
    const asker = new PresencePoller(tab, chat, presencePollMs, (presence) => results.push(presence));
    const asks = () => server.executedCommands.filter(({ command }) => command.type === "presence").length;
    return { server, phone, tab, chat, results, asker, asks };
  };

  it("it is requested as soon as the server is reachable, and repeatedly", async () => {
    const { server, results, asker, asks } = await begin();
    server.presence = here;
    await eventually(() => expect(results).toContainEqual(here));
    await eventually(() => expect(asks()).toBeGreaterThan(2));
    asker.stop();
  });

  it("nothing is requested while no tab is visible or nobody subscribes, and at once when a tab becomes visible", async () => {
    const { server, phone, results, asker, asks } = await begin();
    await eventually(() => expect(asks()).toBe(1));
    phone.enterBackground();
    await phone.pass(3 * presencePollMs);
    expect(asks()).toBe(1);
    server.presence = here;
    phone.enterForeground();
    await eventually(() => expect(results.at(-1)).toEqual(here));
    asker.stop();
    const before = asks();
    await phone.pass(2 * presencePollMs);
    expect(asks()).toBe(before);
  });

  it("it is requested at once after a notice of a change, in whichever tab is visible", async () => {
    const { server, phone, tab, chat, asker } = await begin();
    await eventually(() => expect(tab.isLeader).toBe(true));
    const other = await phone.openTab();
    await eventually(() => expect(other.link.get()).toBe("online"));
    asker.stop();
    server.presence = here;
    const results = [tab, other].map((one) => {
      const values: (Presence | undefined)[] = [];
      const asker = new PresencePoller(one, chat, farMs, (presence) => values.push(presence));
      return { values, asker };
    });
    await eventually(() => expect(results.map(({ values }) => values.at(-1))).toEqual([here, here]));
    server.presence = nothing;
    phone.sockets.at(-1)?.pushPresenceChanged();
    await eventually(() => expect(results.map(({ values }) => values.at(-1))).toEqual([nothing, nothing]));
    for (const { asker } of results) asker.stop();
  });

  it("an answer from before a change is requested once more", async () => {
    const { tab, chat, asker } = await begin();
    asker.stop();
    await eventually(() => expect(tab.link.get()).toBe("online"));
    const answers: ((presence: Presence) => void)[] = [];
    const ask = vi
      .spyOn(tab, "request")
      .mockImplementation(() => new Promise((resolve) => answers.push(resolve as never)));
    const values: (Presence | undefined)[] = [];
    const slow = new PresencePoller(tab, chat, farMs, (presence) => values.push(presence));
    await eventually(() => expect(ask).toHaveBeenCalledTimes(1));
    tab.presenceVersion.set(tab.presenceVersion.get() + 1);
    expect(ask).toHaveBeenCalledTimes(1);
    answers[0]?.(here);
    await eventually(() => expect(ask).toHaveBeenCalledTimes(2));
    answers[1]?.(nothing);
    await eventually(() => expect(values.at(-1)).toEqual(nothing));
    slow.stop();
    ask.mockRestore();
  });

  it("an outdated answer is not shown any more", async () => {
    const { server, phone, results, asker } = await begin();
    server.presence = here;
    await eventually(() => expect(results.at(-1)).toEqual(here));
    phone.faults.isOffline = true;
    await eventually(() => expect(results.at(-1)).toBeUndefined());
    asker.stop();
  });

  it("a refusal is retried later", async () => {
    const { server, results, asker } = await begin();
    server.refuse = (_, command) => (command.type === "presence" ? { error: "rate_limited" } : undefined);
    await eventually(() =>
      expect(server.executedCommands.some(({ command }) => command.type === "presence")).toBe(true),
    );
    server.presence = here;
    server.refuse = () => undefined;
    await eventually(() => expect(results.at(-1)).toEqual(here));
    asker.stop();
  });
});
