import { describe, expect, it } from "vitest";
import type { Call } from "#contract/calls/call.ts";
import { createUuid, privateConversationId } from "#contract/ids.ts";
import { callRingMs } from "#contract/limits/calls.ts";
import type { PushPayload } from "#contract/push.ts";
import { endsRing } from "#features/push/close-call-notifications.ts";
import { toRingMs } from "#sw/call-notification.ts";
import { toCallNotification } from "#sw/push-notification.ts";
import type { CallFeedEvent } from "#sync/connection/call-feed.ts";

const [me, friend, id] = [createUuid(), createUuid(), createUuid()];
const conversation = privateConversationId(me, friend);
const sentAt = 1_000_000;
const payload: PushPayload = {
  web_push: 8030,
  notification: {
    title: "Ben",
    body: "Incoming audio call",
    navigate: `https://lisolo.example/app/chat/${friend}`,
    tag: `call:${conversation}`,
    lang: "en",
    dir: "auto",
  },
  mutable: true,
  data: { kind: "call", user: me, conversation, call: id, count: 0, sentAt, isAlerting: true },
};

describe("the ring of a push", () => {
  const times = { sentAt, expiresAt: sentAt + callRingMs };
  it("lasts until the end of the call's ring", () => {
    expect(toRingMs(times, sentAt + 10_000)).toBe(callRingMs - 10_000);
  });
  it("needs the server's answer when the clock says that it is over or about to be", () => {
    expect(toRingMs(times, sentAt + callRingMs - 2_000)).toBe(2_000);
    expect(toRingMs(times, sentAt + callRingMs - 1_999)).toBeUndefined();
    expect(toRingMs(times, sentAt + 86_400_000)).toBeUndefined();
  });
  it("is not longer than the rest of the call's ring on a device whose clock is behind", () => {
    expect(toRingMs(times, sentAt - 86_400_000)).toBe(callRingMs);
  });
});

describe("the notification of a call", () => {
  const ring = { id, conversation, isRinging: true, body: "Incoming audio call" };
  it("stays, sounds, vibrates and has two buttons while the call rings", () => {
    const { title, options } = toCallNotification(payload, ring, false);
    expect(title).toBe("Ben");
    expect(options).toMatchObject({
      requireInteraction: true,
      renotify: true,
      silent: false,
      tag: `call:${conversation}`,
    });
    expect(options.vibrate?.length).toBeGreaterThan(0);
    expect(options.actions).toEqual([
      { action: "answer", title: "Answer" },
      { action: "decline", title: "Decline" },
    ]);
  });
  it("neither sounds nor vibrates if it is silent", () => {
    const { options } = toCallNotification(payload, ring, true);
    expect(options).toMatchObject({ requireInteraction: true, renotify: false, silent: true });
    expect(options.vibrate).toBeUndefined(); // browsers refuse a silent notification that vibrates
  });
  it("has no buttons and can be swiped away when the call is over", () => {
    const { options } = toCallNotification(payload, { ...ring, isRinging: false, body: "Missed audio call" }, true);
    expect(options.body).toBe("Missed audio call");
    expect(options.actions).toBeUndefined();
    expect(options.requireInteraction).toBeUndefined();
  });
  it("is not closed by reading the conversation, and counts no messages", () => {
    const { data } = toCallNotification(payload, ring, false).options;
    expect(data.conversation).toBeUndefined();
    expect(data).toEqual({
      path: `/app/chat/${friend}`,
      count: 0,
      head: 0,
      call: { id, conversation, user: me, sentAt, isRinging: true },
    });
  });
});

describe("an open page closes the notification of a call", () => {
  const call: Call = {
    call_id: id,
    conversation,
    type: "audio",
    from: friend,
    to: me,
    from_device: createUuid(),
    to_device: null,
    created_at: sentAt,
    answered_at: null,
  };
  const ring = { id, isRinging: true, sentAt } as const;
  const ended = { call_id: id, conversation, seconds: 0 };
  const now = sentAt + 1;
  const cases: [string, CallFeedEvent, boolean][] = [
    ["answered", { event_type: "answered", data: { ...call, answered_at: now } }, true],
    ["missed", { event_type: "missed", data: ended }, true],
    ["rejected by another tab", { event_type: "taken", data: { call_id: id } }, true],
    ["of another id", { event_type: "missed", data: { ...ended, call_id: createUuid() } }, false],
    ["ringing", { event_type: "ring", data: call }, false],
    ["in the list of open calls", { event_type: "standing", calls: [call], now }, false],
    ["answered in that list", { event_type: "standing", calls: [{ ...call, answered_at: now }], now }, true],
    ["missing in that list", { event_type: "standing", calls: [], now }, true],
    ["newer than that list", { event_type: "standing", calls: [], now: sentAt - 1 }, false],
  ];
  it.each(cases)("that is %s", (_, event, isOver) => {
    expect(endsRing(event, ring)).toBe(isOver);
  });
});
