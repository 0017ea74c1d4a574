import type { Locator, Worker } from "@playwright/test";
import { privateConversationId } from "#contract/ids.ts";
import type { PushPayload } from "#contract/push.ts";
import type { TestClient } from "#tests/support/browser/test-client.ts";
import type { Person } from "#tests/support/people/people.ts";
import { expect } from "./push-browser.ts";

/** Push that announces a message, as the server writes it in French. */
export const messagePush = (to: Person, from: Person, text: string, head = 1): PushPayload => {
  const conversation = privateConversationId(to.id, from.id);
  return {
    web_push: 8030,
    notification: {
      title: from.username,
      body: text,
      navigate: `https://lisolo.example/app/chat/${from.id}`,
      tag: `c:${conversation}`,
      lang: "fr",
      dir: "auto",
    },
    mutable: true,
    data: { kind: "message", user: to.id, conversation, count: 1, head, sentAt: Date.now(), isAlerting: true },
  };
};

export const pushSwitch = ({ page, texts }: TestClient): Locator =>
  page.getByRole("switch", { name: texts.settings.push.label, exact: false });

/** Turns notifications on in the settings and waits until the server has the subscription. */
export const turnOn = async (phone: TestClient, person: Person): Promise<void> => {
  await phone.signIn(person, "/app/notifications");
  await phone.page.waitForFunction(() => navigator.serviceWorker.controller !== null);
  const saved = phone.page.waitForResponse((response) => response.request().method() === "PUT");
  await pushSwitch(phone).click();
  expect((await saved).status()).toBe(204);
  await expect(pushSwitch(phone)).toBeChecked();
  await expect(phone.page.getByRole("button", { name: phone.texts.settings.push.test })).toBeVisible();
};

/** The service worker of a client, running. */
export const findWorker = ({ context }: Pick<TestClient, "context">): Worker => {
  const worker = context.serviceWorkers().at(-1);
  if (!worker) throw new Error("no service worker");
  return worker;
};

/**
 * Taps the notification with a tag, or a button of it. Headless Chromium has no notifications to tap: the worker's own
 * event handler receives the event of one.
 */
export const tapNotification = (phone: TestClient, tag: string, action = "", reply?: string): Promise<void> =>
  findWorker(phone).evaluate(
    `registration.getNotifications({ tag: ${JSON.stringify(tag)} }).then(([notification]) => {
      const event = new NotificationEvent("notificationclick", { notification, action: ${JSON.stringify(action)} });
      Object.defineProperty(event, "reply", { value: ${JSON.stringify(reply ?? null)} });
      self.dispatchEvent(event);
    })`,
  );
