import { describe, expect, it } from "vitest";
import { searchTextOfBody } from "#contract/messages/body.ts";
import { closeCodes } from "#contract/wire/server-frames.ts";
import { ReadTracker } from "#sync/inbound/read-tracker.ts";
import { enqueueText } from "#sync/sending/enqueue.ts";
import { eventually } from "#tests/support/model/eventually.ts";
import { getContext, listShown, listTexts, waitUntilDeviceSynced } from "#tests/support/model/model-checks.ts";
import { makeDevice, makePair } from "#tests/support/model/model-fixtures.ts";

const online = (tab: { link: { get(): string } }) => eventually(() => expect(tab.link.get()).toBe("online"));

describe("the socket", () => {
  it("a socket that stays open but transmits nothing is detected and replaced", async () => {
    const { server, amina, benoit, chat } = makePair();
    const phone = makeDevice(server, amina);
    const tab = await phone.openTab();
    await online(tab);
    phone.faults.blackhole = true;
    server.sendTexts(benoit, chat, "unheard");
    const began = tab.platform.now();
    await eventually(() => expect(phone.sockets.length).toBeGreaterThan(1));
    expect(tab.platform.now() - began).toBeLessThan(45_000);
    phone.faults.blackhole = false;
    await waitUntilDeviceSynced(server, tab, chat);
  });

  it("a lost last frame is noticed by the next pong", async () => {
    const { server, amina, benoit, chat } = makePair();
    const phone = makeDevice(server, amina);
    const tab = await phone.openTab();
    server.sendTexts(benoit, chat, "a");
    // Its receipt is sent and acknowledged: no other request would reveal the loss.
    await eventually(() => expect(server.log(chat).members.get(amina)).toMatchObject({ delivered: 1 }));
    await waitUntilDeviceSynced(server, tab, chat);
    phone.faults.dropDown = 1;
    server.sendTexts(benoit, chat, "b", "c", "d");
    phone.faults.dropDown = 0;
    await waitUntilDeviceSynced(server, tab, chat);
    expect(phone.sockets).toHaveLength(1);
  });

  it("a missing message in the middle is fetched at once, and later ones are not shown before it", async () => {
    const { server, amina, benoit, chat } = makePair();
    const phone = makeDevice(server, amina);
    const tab = await phone.openTab();
    server.sendTexts(benoit, chat, "1");
    await waitUntilDeviceSynced(server, tab, chat);
    server.refuse = (_, command) =>
      command.type === "page" || command.type === "changes" ? { error: "unavailable" } : undefined;
    phone.faults.dropDown = 1;
    server.sendTexts(benoit, chat, "2");
    phone.faults.dropDown = 0;
    server.sendTexts(benoit, chat, "3");
    await eventually(async () => expect(await getContext(tab).store.queryMessages(chat, 1).count()).toBe(2));
    expect(await listTexts(tab, chat)).toEqual(["1"]);
    server.refuse = () => undefined;
    await waitUntilDeviceSynced(server, tab, chat);
    expect(await listTexts(tab, chat)).toEqual(["1", "2", "3"]);
  });

  it("sockets that break as soon as they open are retried with growing pauses", async () => {
    const { server, amina } = makePair();
    const phone = makeDevice(server, amina);
    phone.faults.cut = 1;
    phone.faults.random = () => 0.5;
    await phone.openTab();
    await phone.pass(60_000);
    expect(phone.sockets.length).toBeGreaterThan(3);
    expect(phone.sockets.length).toBeLessThan(12);
  });

  it("an unreachable server is retried every few seconds while the page is in use, and at once when it is touched", async () => {
    const { server, amina } = makePair();
    const phone = makeDevice(server, amina);
    phone.faults.random = () => 1;
    phone.isUserActive = true;
    const tab = await phone.openTab();
    await online(tab);
    const end = () => {
      for (const socket of [...server.inbox(amina).sockets]) socket.end(1006);
    };
    const tried = async (ms: number) => {
      const before = phone.sockets.length;
      await phone.pass(ms);
      return phone.sockets.length - before;
    };
    phone.faults.isOffline = true;
    end();
    await phone.pass(60_000);
    const used = await tried(60_000);
    expect(used).toBeGreaterThanOrEqual(8);
    expect(used).toBeLessThanOrEqual(15);
    phone.isUserActive = false;
    await phone.pass(60_000);
    expect(await tried(60_000)).toBeLessThanOrEqual(3);
    const before = phone.sockets.length;
    phone.touchScreen();
    await eventually(() => expect(phone.sockets.length).toBe(before + 1));
    phone.faults.isOffline = false;
    phone.touchScreen();
    await online(tab);
  });

  it("a link that drops repeatedly is reconnected soon each time", async () => {
    const { server, amina } = makePair();
    const phone = makeDevice(server, amina);
    phone.faults.random = () => 1;
    const tab = await phone.openTab();
    const pauses: number[] = [];
    for (let drop = 1; drop <= 8; drop++) {
      await online(tab);
      await phone.pass(5_000); // While it is up it transmits.
      const sockets = phone.sockets.length;
      const dropped = phone.now();
      phone.sockets.at(-1)?.end(1006);
      await eventually(() => expect(phone.sockets.length).toBeGreaterThan(sockets));
      pauses.push(phone.now() - dropped);
    }
    // Pauses that grew with every drop would be at 8, 16 and twice 30 s by now; a busy machine adds some time.
    expect(Math.min(...pauses.slice(-4))).toBeLessThan(5_000);
  });

  it("returning to the foreground reconnects at once instead of waiting for the pause to end", async () => {
    const { server, amina } = makePair();
    const phone = makeDevice(server, amina);
    phone.faults.isOffline = true;
    phone.faults.random = () => 1;
    const tab = await phone.openTab();
    await phone.pass(60_000); // by now the pause is 30 s
    phone.faults.isOffline = false;
    const [tries, woken] = [phone.sockets.length, phone.now()];
    phone.wake();
    await eventually(() => expect(phone.sockets).toHaveLength(tries + 1));
    expect(phone.now() - woken).toBeLessThan(10_000);
    await online(tab);
    expect(phone.sockets).toHaveLength(tries + 1);
  });

  it("after a change of network the phone opens a new socket as soon as there is one", async () => {
    const { server, amina } = makePair();
    const phone = makeDevice(server, amina);
    const tab = await phone.openTab();
    await online(tab);
    phone.faults.blackhole = true; // The open socket stays open and transmits nothing.
    phone.isOnline = false;
    phone.wake();
    await phone.pass(500);
    phone.faults.blackhole = false;
    phone.isOnline = true;
    const [tries, woken] = [phone.sockets.length, phone.now()];
    phone.wake();
    await eventually(() => expect(phone.sockets).toHaveLength(tries + 1));
    expect(phone.now() - woken).toBeLessThan(10_000); // A dead connection is detected later.
    await online(tab);
  });

  it("a session that the socket refuses is renewed once, and the socket opens", async () => {
    const { server, amina } = makePair();
    const phone = makeDevice(server, amina);
    phone.refusesSession = true;
    const tab = await phone.openTab();
    await online(tab);
    expect(phone.renewals).toBe(1);
    expect(phone.notices).toEqual([]);
  });

  it("a session that cannot be renewed ends the engine with a notice and without further attempts", async () => {
    const { server, amina } = makePair();
    const phone = makeDevice(server, amina);
    phone.refusesSession = true;
    phone.canRenew = false;
    await phone.openTab();
    await eventually(() => expect(phone.notices).toEqual(["signed-out"]));
    const sockets = phone.sockets.length;
    await phone.pass(30_000);
    expect(phone.sockets).toHaveLength(sockets);
  });

  it("a server with another protocol version is not retried repeatedly, and HTTP continues", async () => {
    const { server, amina, benoit, chat } = makePair();
    const phone = makeDevice(server, amina);
    const tab = await phone.openTab();
    await online(tab);
    phone.sockets[0]?.end(closeCodes.protocol);
    server.sendTexts(benoit, chat, "by HTTP");
    await waitUntilDeviceSynced(server, tab, chat);
    expect(phone.notices).toEqual(["outdated"]);
    expect(phone.sockets).toHaveLength(1);
  });
});

describe("without sockets", () => {
  it("without sockets messages and receipts are exchanged by HTTP, until one opens", async () => {
    const { server, amina, benoit, chat } = makePair();
    const phone = makeDevice(server, amina);
    phone.faults.noUpgrade = true;
    const tab = await phone.openTab();
    await enqueueText(tab, chat, "by HTTP");
    await waitUntilDeviceSynced(server, tab, chat);
    server.sendTexts(benoit, chat, "answer");
    await waitUntilDeviceSynced(server, tab, chat);
    await online(tab);
    const viewed = new ReadTracker(tab);
    viewed.markRead(chat, 2);
    await viewed.flush();
    await eventually(() => expect(server.log(chat).members.get(amina)).toMatchObject({ read: 2 }));
    await waitUntilDeviceSynced(server, tab, chat);
    phone.faults.noUpgrade = false;
    await eventually(() => expect(server.inbox(amina).sockets.size).toBe(1));
    const requests = phone.requests.length;
    server.sendTexts(benoit, chat, "by socket");
    await waitUntilDeviceSynced(server, tab, chat);
    await phone.pass(20_000);
    expect(phone.requests.length).toBeLessThanOrEqual(requests + 1); // One may have been running.
  });

  it("a batch with one permanently refused message sends all the others", async () => {
    const { server, amina, chat } = makePair();
    const phone = makeDevice(server, amina);
    phone.faults.noUpgrade = true;
    server.refuse = (_, command) =>
      command.type === "send" && command.messages.some(({ body }) => searchTextOfBody(body) === "bad")
        ? { error: "invalid_text" }
        : undefined;
    const tab = await phone.openTab();
    for (const text of ["1", "2", "bad", "3", "4"]) await enqueueText(tab, chat, text);
    await eventually(async () =>
      expect(await listShown(tab, chat)).toEqual(["1 sent", "2 sent", "3 sent", "4 sent", "bad failed"]),
    );
  });

  it("a message being sent by HTTP is not overtaken by the next one when a socket opens", async () => {
    const { server, amina, chat } = makePair();
    const phone = makeDevice(server, amina);
    phone.faults.noUpgrade = true;
    const tab = await phone.openTab();
    await online(tab);
    phone.requestMs = 20_000;
    await enqueueText(tab, chat, "first");
    await eventually(() => expect(phone.requests.some(({ method }) => method === "POST")).toBe(true));
    phone.faults.noUpgrade = false;
    phone.wake();
    await eventually(() => expect(server.inbox(amina).sockets.size).toBe(1));
    await enqueueText(tab, chat, "second");
    await waitUntilDeviceSynced(server, tab, chat);
    expect(await listTexts(tab, chat)).toEqual(["first", "second"]);
  });

  it("polling slows down while nothing changes", async () => {
    const { server, amina } = makePair();
    const phone = makeDevice(server, amina);
    phone.faults.noUpgrade = true;
    const tab = await phone.openTab();
    await online(tab);
    await phone.pass(20_000);
    const before = server.executedCommands.length;
    await phone.pass(150_000);
    expect(server.executedCommands.length - before).toBeLessThan(12);
    expect(server.executedCommands.length - before).toBeGreaterThan(1);
  });

  it("without any network the connection state is offline", async () => {
    const { server, amina } = makePair();
    const phone = makeDevice(server, amina);
    phone.faults.isOffline = true;
    const tab = await phone.openTab();
    await eventually(() => expect(tab.link.get()).toBe("offline"));
  });
});

describe("tabs", () => {
  it("two tabs of a person share one socket and both show everything", async () => {
    const { server, amina, benoit, chat } = makePair();
    const phone = makeDevice(server, amina);
    const first = await phone.openTab();
    const second = await phone.openTab();
    await online(second);
    expect([first.isLeader, second.isLeader]).toEqual([true, false]);
    expect(phone.sockets).toHaveLength(1);
    await enqueueText(second, chat, "from the second tab");
    server.sendTexts(benoit, chat, "answer");
    await waitUntilDeviceSynced(server, first, chat);
    await waitUntilDeviceSynced(server, second, chat);
    const page = await second.request({ type: "page", conversation: chat, direction: "before", seq: 2, limit: 5 });
    expect(page.messages).toHaveLength(1);
    expect(phone.requests.filter(({ path }) => path.includes("/messages"))).toEqual([]);
  });

  it("when the leading tab is killed the other takes over and sends what was written", async () => {
    const { server, amina, chat } = makePair();
    const phone = makeDevice(server, amina);
    const first = await phone.openTab();
    const second = await phone.openTab();
    await online(second);
    phone.faults.dropAck = 1;
    await enqueueText(second, chat, "handed over");
    await eventually(() => expect(server.log(chat).messages).toHaveLength(1));
    await phone.kill(first);
    phone.faults.dropAck = 0;
    await eventually(() => expect(second.isLeader).toBe(true));
    await waitUntilDeviceSynced(server, second, chat);
    expect(await listShown(second, chat)).toEqual(["handed over sent"]);
  });

  it("a suspended leader is replaced by the tab in use", async () => {
    const { server, amina, chat } = makePair();
    const phone = makeDevice(server, amina);
    const asleep = await phone.openTab();
    await online(asleep);
    const awake = await phone.openTab();
    await online(awake);
    phone.putToSleep(asleep);
    await enqueueText(awake, chat, "now");
    await eventually(() => expect(awake.isLeader).toBe(true));
    await waitUntilDeviceSynced(server, awake, chat);
  });

  it("without Web Locks every tab leads, and each message is still stored once", async () => {
    const { server, amina, benoit, chat } = makePair();
    const phone = makeDevice(server, amina);
    phone.hasLocks = false;
    const first = await phone.openTab();
    const second = await phone.openTab();
    for (let i = 0; i < 10; i++) await enqueueText(i % 2 ? first : second, chat, `n${i}`);
    server.sendTexts(benoit, chat, "answer");
    await waitUntilDeviceSynced(server, first, chat);
    await waitUntilDeviceSynced(server, second, chat);
    expect(server.log(chat).messages).toHaveLength(11);
  });
});
