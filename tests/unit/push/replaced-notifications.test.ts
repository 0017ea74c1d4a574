import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { createUuid, privateConversationId } from "#contract/ids.ts";
import type { PushPayload } from "#contract/push.ts";
import type { PushDevice } from "#lib/browser/push/push-device.ts";
import { handleCallPush } from "#sw/call-notification.ts";
import { closeHandled, closeReplaced } from "#sw/handled-notifications.ts";
import { toCallNotification, toNotification } from "#sw/push-notification.ts";

const [me, friend, call] = [createUuid(), createUuid(), createUuid()];
const conversation = privateConversationId(me, friend);
const device: PushDevice = { user: me, language: "fr", endpoint: "https://push.example/1", key: "k", savedAt: 0 };

type Shown = { title: string; tag: string; data: unknown; silent: boolean; close(): void };
let shown: Shown[];

const showNotification = async (title: string, { tag = "", data, silent }: NotificationOptions): Promise<void> => {
  const close = () => {
    shown = shown.filter((other) => other !== notification);
  };
  const notification: Shown = { title, tag, data, silent: silent === true, close };
  shown = [...shown.filter((other) => other.tag !== tag), notification];
};

const makePayload = (tag: string, data: Partial<PushPayload["data"]>): PushPayload => ({
  web_push: 8030,
  notification: {
    title: "Ana",
    body: "…",
    navigate: `https://lisolo.example/app/chat/${friend}`,
    tag,
    lang: "fr",
    dir: "auto",
  },
  mutable: true,
  data: { kind: "message", user: me, conversation, count: 1, sentAt: 1, isAlerting: true, ...data },
});

beforeEach(() => {
  shown = [];
  vi.stubGlobal("self", {
    navigator: { languages: ["fr"] },
    registration: { showNotification, getNotifications: async () => shown },
    clients: { matchAll: async () => [] },
  });
});
afterEach(() => {
  vi.unstubAllGlobals();
});

it.each(["missed_call", "message"] as const)(
  "a push of the kind %s about a missed call silently replaces the ring of this call and no other",
  async (kind) => {
    const tag = `call:${conversation}`;
    const showRing = (id: string) => {
      const ring = { id, conversation, isRinging: true, body: "…" };
      const { title, options } = toCallNotification(makePayload(tag, { kind: "call", call: id }), ring, false);
      return showNotification(title, options);
    };
    await showRing(call);
    expect(await handleCallPush(makePayload(`c:${conversation}`, { kind, call }), device)).toBe(true);
    expect(shown.map(({ tag, silent }) => [tag, silent])).toEqual([[`c:${conversation}`, true]]);

    await showRing(createUuid());
    await handleCallPush(makePayload(`c:${conversation}`, { kind, call, count: 2 }), device);
    expect(shown.map(({ tag, silent }) => [tag, silent])).toEqual([
      [`call:${conversation}`, false],
      [`c:${conversation}`, false],
    ]);
  },
);

const show = async (payload: PushPayload): Promise<void> => {
  const { title, options } = toNotification(payload, device, []);
  await showNotification(title, options);
};

it("a notification closes those whose place it takes", async () => {
  await show(makePayload("summary", { kind: "summary" }));
  await show(makePayload("c:other", {}));
  const payload = makePayload(`c:${conversation}`, { replaces: ["summary"] });
  await show(payload);
  await closeReplaced(payload);
  expect(shown.map(({ tag }) => tag)).toEqual(["c:other", `c:${conversation}`]);
});

it("what was read elsewhere has no buttons and is closed after some seconds, and a later message is not", async () => {
  vi.useFakeTimers();
  const [tag, otherTag] = [`c:${conversation}`, "request:1"];
  const [read, answered] = [makePayload(tag, { isHandled: true }), makePayload(otherTag, { isHandled: true })];
  expect(toNotification(read, device, []).options.actions).toBeUndefined();
  const closing: Promise<void>[] = [];
  for (const payload of [read, answered]) {
    await show(payload);
    closing.push(closeHandled(payload));
  }
  await vi.advanceTimersByTimeAsync(3_000);
  await show(makePayload(tag, {}));
  expect(shown).toHaveLength(2);
  await vi.advanceTimersByTimeAsync(3_000);
  await Promise.all(closing);
  expect(shown.map(({ tag }) => tag)).toEqual([tag]);
  vi.useRealTimers();
});
