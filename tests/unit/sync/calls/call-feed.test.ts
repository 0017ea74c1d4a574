import { describe, expect, it } from "vitest";
import type { Call } from "#contract/calls/call.ts";
import { createUuid, privateConversationId } from "#contract/ids.ts";
import { CallFeed, type CallFeedEvent } from "#sync/connection/call-feed.ts";
import { eventually } from "#tests/support/model/eventually.ts";
import { makeDevice, makePair } from "#tests/support/model/model-fixtures.ts";

const start = 1_800_000_000_000;
const makeCall = (id = createUuid()): Call => ({
  call_id: id,
  conversation: privateConversationId(createUuid(), createUuid()),
  type: "audio",
  from: createUuid(),
  to: createUuid(),
  from_device: createUuid(),
  to_device: null,
  created_at: start,
  answered_at: null,
});

describe("call events", () => {
  const makeWire = () => {
    const clock = { now: 0 };
    const wire = new CallFeed(() => clock.now);
    const received: string[] = [];
    wire.subscribe(({ event_type }) => received.push(event_type));
    const isOpen = ({ call_id }: Call) => wire.activeCalls.get().some((call) => call.call_id === call_id);
    return { clock, wire, received, isOpen };
  };
  const ring = (data: Call): CallFeedEvent => ({ event_type: "ring", data });
  const answered = (call: Call): CallFeedEvent => ({
    event_type: "answered",
    data: { ...call, to_device: createUuid(), answered_at: start + 5_000 },
  });
  const missed = ({ call_id, conversation }: Call): CallFeedEvent => ({
    event_type: "missed",
    data: { call_id, conversation, seconds: 0 },
  });

  it("are passed on, and update the list of active calls", () => {
    const { wire, received, isOpen } = makeWire();
    const call = makeCall();
    wire.publish(ring(call));
    expect(isOpen(call)).toBe(true);
    wire.publish(answered(call));
    expect(wire.activeCalls.get()).toMatchObject([{ call_id: call.call_id, answered_at: start + 5_000 }]);
    wire.publish({ event_type: "ended", data: { ...call, seconds: 3 } });
    expect(wire.activeCalls.get()).toEqual([]);
    expect(received).toEqual(["ring", "answered", "ended"]);
  });

  it("an end overrides whatever event arrives after it", () => {
    const { wire, received, isOpen } = makeWire();
    const call = makeCall();
    wire.publish(missed(call)); // It overtook its ring.
    wire.publish(ring(call));
    wire.publish(answered(call));
    wire.publish({ event_type: "standing", calls: [call], now: start });
    expect(isOpen(call)).toBe(false);
    expect(received).toEqual(["missed", "standing"]);
  });

  it("an answer overrides a late ring", () => {
    const { wire, received } = makeWire();
    const call = makeCall();
    wire.publish(answered(call));
    wire.publish(ring(call));
    expect(received).toEqual(["answered"]);
    expect(wire.activeCalls.get()).toMatchObject([{ answered_at: start + 5_000 }]);
  });

  it("ends are forgotten after two minutes", () => {
    const { wire, clock, isOpen } = makeWire();
    const call = makeCall();
    wire.publish(missed(call));
    clock.now = 119_000;
    wire.publish(ring(call));
    expect(isOpen(call)).toBe(false);
    clock.now = 121_000;
    wire.publish(ring(call));
    expect(isOpen(call)).toBe(true);
  });

  it("a list of all active calls replaces the known ones", () => {
    const { wire } = makeWire();
    const [one, two] = [makeCall(), makeCall()];
    wire.publish(ring(one));
    wire.publish({ event_type: "standing", calls: [two], now: start });
    expect(wire.activeCalls.get()).toEqual([two]);
  });

  it("the server's clock is estimated from the middle of request and answer, however wrong the phone's is", () => {
    const { wire, clock } = makeWire();
    expect(wire.getSnapshot()).toBeUndefined();
    wire.publish({ event_type: "standing", calls: [], now: start });
    expect([wire.serverNow(), wire.toDeviceTime(start + 10)]).toEqual([start, 10]);
    clock.now = 2_000;
    wire.setServerTime(start + 1_500, 1_000);
    expect(wire.serverNow()).toBe(start + 2_000);
    expect(wire.getSnapshot()).toEqual({ event_type: "standing", calls: [], now: start + 2_000 });
  });
});

describe("the tabs of a browser", () => {
  it("a tab opened during a call learns of it from the tab with the socket", async () => {
    const { server, amina } = makePair();
    const phone = makeDevice(server, amina);
    const call = makeCall();
    server.calls = [call];
    const first = await phone.openTab();
    await eventually(() => expect(first.calls.activeCalls.get()).toEqual([call]));
    const second = await phone.openTab();
    await eventually(() => expect(second.calls.activeCalls.get()).toEqual([call]));
    expect(second.isLeader).toBe(false);
    expect(Math.abs(second.calls.serverNow() - first.calls.serverNow())).toBeLessThan(10_000);
  });

  it("inform each other that a call is taken", async () => {
    const { server, amina } = makePair();
    const phone = makeDevice(server, amina);
    const tabs = [await phone.openTab(), await phone.openTab(), await phone.openTab()];
    const received: string[] = [];
    for (const [index, tab] of tabs.entries())
      tab.calls.subscribe((news) => {
        if (news.event_type === "taken") received.push(`${index} ${news.data.call_id}`);
      });
    const id = createUuid();
    tabs[1]?.announceCallTaken(id);
    await eventually(() => expect(received.sort()).toEqual([`0 ${id}`, `2 ${id}`]));
  });
});
