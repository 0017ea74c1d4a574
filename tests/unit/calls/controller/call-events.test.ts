import { expect, it, vi } from "vitest";
import { createUuid, privateConversationId } from "#contract/ids.ts";
import type { CallFeedEvent } from "#sync/connection/call-feed.ts";
import { makeCallPair } from "#tests/support/model/call-pair.ts";

/** A second call that reuses a call id in a conversation with one of the same two people. */
const makeNamesake = async () => {
  const pair = await makeCallPair();
  const heard: CallFeedEvent[] = [];
  pair.b.feed.subscribe((event) => heard.push(structuredClone(event)));
  await pair.ring();
  const place = {
    call_id: pair.server.open[0]?.call_id ?? "",
    conversation: privateConversationId(pair.ben, createUuid()),
  };
  return { ...pair, heard, place, end: { event_type: "ended", data: { ...place, seconds: 0 } } as const };
};

it("the end of a call with the same id in another conversation ends nothing here, ringing or connected", async () => {
  const { time, server, a, b, end } = await makeNamesake();
  for (const tab of [a, b]) tab.receive(end);
  await time.pass(500);
  expect([a.phase, b.phase]).toEqual(["outgoing", "ringing"]);
  b.controller.handleUserAction({ type: "accept" });
  await time.pass(2_000);
  for (const tab of [a, b]) tab.receive(end);
  await time.pass(500);
  expect([a.phase, b.phase]).toEqual(["connected", "connected"]);
  expect(server.open).toHaveLength(1);
});

it("the end of a call with the same id in another conversation does not suppress a ring", async () => {
  const { time, benBrowser, heard, end } = await makeNamesake();
  const late = await benBrowser.openTab();
  late.receive(end);
  for (const event of heard) late.receive(event);
  await time.pass(500);
  expect(late.phase).toBe("ringing");
});

it("a signal of a call with the same id in another conversation does not reach the media", async () => {
  const { time, a, b, chat, place } = await makeNamesake();
  b.controller.handleUserAction({ type: "accept" });
  await time.pass(2_000);
  const [media] = b.mediaSessions;
  if (!media) throw new Error("there are no media");
  const receive = vi.spyOn(media, "receiveSignal");
  const signal = { from_device: a.device, to_device: null, signal: `here ${createUuid()}` };
  b.receive({ event_type: "signal", data: { ...place, ...signal } });
  expect(receive).not.toHaveBeenCalled();
  b.receive({ event_type: "signal", data: { ...place, conversation: chat, ...signal } });
  expect(receive).toHaveBeenCalledOnce();
});
