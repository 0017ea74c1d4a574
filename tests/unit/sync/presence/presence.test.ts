import { describe, expect, it, vi } from "vitest";
import { presencePollMs, presenceStaleMs } from "#contract/limits.ts";
import type { Presence } from "#contract/settings.ts";
import { PresencePoller } from "#sync/presence/presence-poller.ts";
import { eventually } from "#tests/support/model/eventually.ts";
import type { ModelDevice } from "#tests/support/model/model-device.ts";
import { makeDevice, makePair } from "#tests/support/model/model-fixtures.ts";

const isLooked = (phone: ModelDevice) => phone.sockets.at(-1)?.isForeground;
const comesToBe = (phone: ModelDevice, isOn: boolean) => eventually(() => expect(isLooked(phone)).toBe(isOn));

describe("reporting that a device is visible", () => {
  it("it says so once the server has welcomed it, when it is looked at no more, and when it is again", async () => {
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

  it("a page opened in the background says nothing", async () => {
    const { server, amina } = makePair();
    const phone = makeDevice(server, amina);
    phone.isVisible = false;
    const tab = await phone.openTab();
    await eventually(() => expect(tab.link.get()).toBe("online"));
    await phone.pass(presenceStaleMs);
    expect(phone.sockets.at(-1)?.foregroundReports).toBe(0);
  });

  it("it says so again over the next socket, and while nothing changes it says it once", async () => {
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

  it("a tab that is looked at is what makes it so, whichever speaks to the server, and one that dies is not looked at", async () => {
    const { server, amina } = makePair();
    const phone = makeDevice(server, amina);
    const leader = await phone.openTab();
    await eventually(() => expect(leader.isLeader).toBe(true));
    await comesToBe(phone, true);
    const other = await phone.openTab();
    // Both go; then somebody looks at the one that does not speak to the server.
    phone.enterBackground();
    await comesToBe(phone, false);
    phone.putToSleep(leader);
    phone.enterForeground();
    await phone.pass(100);
    expect(leader.isLeader || other.isLeader).toBe(true);
    await comesToBe(phone, true);
  });

  it("one tab closed of two leaves it looked at, and both leave it so no more", async () => {
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

  it("it is asked as soon as the server can be reached, and again and again", async () => {
    const { server, results, asker, asks } = await begin();
    server.presence = here;
    await eventually(() => expect(results).toContainEqual(here));
    await eventually(() => expect(asks()).toBeGreaterThan(2));
    asker.stop();
  });

  it("nothing is asked while nobody looks or once nobody wants to know, and at once when somebody looks again", async () => {
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

  it("it is asked at once where they turn it, in whichever tab one looks", async () => {
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

  it("what was answered while they turned it is asked once more", async () => {
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

  it("an old answer is not shown any more", async () => {
    const { server, phone, results, asker } = await begin();
    server.presence = here;
    await eventually(() => expect(results.at(-1)).toEqual(here));
    phone.faults.isOffline = true;
    await eventually(() => expect(results.at(-1)).toBeUndefined());
    asker.stop();
  });

  it("a refusal is asked again later", async () => {
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
