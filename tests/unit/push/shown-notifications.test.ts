import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { createUuid, privateConversationId } from "#contract/ids.ts";
import { composerHash } from "#lib/browser/push/composer-hash.ts";
import { listShownNotifications, notificationLockName } from "#lib/browser/push/notification-lock.ts";
import { handleNotificationClick } from "#sw/push.ts";
import type { PushNotification } from "#sw/push-notification.ts";
import { listNotifications, showNotification, updateBadge } from "#sw/shown-notifications.ts";
import { ModelRegistration } from "#tests/support/push/model-registration.ts";

const [me, friend] = [createUuid(), createUuid()];
const conversation = privateConversationId(me, friend);
const path = `/app/chat/${friend}`;
const device = { user: me, language: "fr", endpoint: "https://push.example/1", key: "k", savedAt: 0 };

let registration: ModelRegistration;
let badges: number[];
let openedPaths: string[];
let requests: string[];

beforeEach(() => {
  registration = new ModelRegistration();
  [badges, openedPaths, requests] = [[], [], []];
  vi.stubGlobal("navigator", {
    locks: navigator.locks,
    serviceWorker: { getRegistration: async () => registration },
    setAppBadge: async (count: number) => badges.push(count),
  });
  vi.stubGlobal("self", {
    registration,
    navigator,
    clients: { matchAll: async () => [], openWindow: async (opened: string) => openedPaths.push(opened) },
  });
  vi.stubGlobal("caches", { open: async () => ({ match: async () => Response.json(device) }) });
  vi.stubGlobal("fetch", async (url: string) => {
    requests.push(url);
    return Response.json({});
  });
});
afterEach(() => {
  vi.unstubAllGlobals();
});

const makeNotification = (body: string, tag = `c:${conversation}`): PushNotification => ({
  title: "Ben",
  options: { body, tag, lang: "fr", data: { path, conversation, user: me, count: 2, head: 7 } },
});

describe("the shown notifications", () => {
  it("stay although the worker or a page lists them at the moment in which one is shown", async () => {
    await Promise.all([
      showNotification(makeNotification("un", "1")),
      listNotifications(),
      showNotification(makeNotification("deux", "2")),
      updateBadge(),
      listShownNotifications(),
    ]);
    expect(registration.shown.map(({ body }) => body)).toEqual(["un", "deux"]);
    expect(badges).toEqual([4]);
  });
  it("are shown although a page that was stopped holds their lock", async () => {
    let release = () => {};
    const stopped = navigator.locks.request(notificationLockName, () => new Promise<void>((end) => (release = end)));
    await showNotification(makeNotification("un"));
    expect(registration.shown).toHaveLength(1);
    release();
    await stopped;
  });
});

describe("a reply without a text", () => {
  const click = async (reply: string | null) => {
    await showNotification(makeNotification("Mbote"));
    const [notification] = registration.shown;
    notification?.close(); // as browsers do when the field is sent
    await handleNotificationClick({
      notification: notification as unknown as Notification,
      action: "reply",
      reply,
    });
  };
  it.each(["", " \u200d\n"])(
    "%j leaves the notification with its text and buttons, and sends nothing",
    async (reply) => {
      await click(reply);
      expect(registration.shown).toMatchObject([
        {
          title: "Ben",
          body: "Mbote",
          tag: `c:${conversation}`,
          silent: true,
          data: { conversation, user: me, head: 7 },
          actions: [{ action: "reply", title: "Répondre" }, { action: "read" }],
        },
      ]);
      expect([requests, openedPaths]).toEqual([[], []]);
    },
  );
  it("where notifications have no field opens the chat", async () => {
    await click(null);
    expect(registration.shown).toEqual([]);
    expect(openedPaths).toEqual([path + composerHash]);
  });
});
