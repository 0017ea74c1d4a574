import { personHeader, sessionTransportHeader } from "#contract/auth/auth.ts";
import { composerHash } from "#lib/browser/push/composer-hash.ts";
import { saveLastPush } from "#lib/browser/push/last-push.ts";
import { readPushDevice, savePushDevice, toSubscriptionBody } from "#lib/browser/push/push-device.ts";
import type { PushWorkerMessage } from "#lib/browser/push/push-messages.ts";
import { declineCall, handleCallPush } from "./call-notification.ts";
import { chooseWindow } from "./choose-window.ts";
import { announceToPages, listWindows } from "./clients.ts";
import { closeHandled, closeReplaced } from "./handled-notifications.ts";
import { findOwnMessageData, markRead, sendReply, toReplyTexts } from "./notification-actions.ts";
import { parsePush, toNotification, toRepeatedNotification } from "./push-notification.ts";
import { findNotificationData, showNotification, updateBadge } from "./shown-notifications.ts";

/** Push events of the service worker. */
declare const self: ServiceWorkerGlobalScope;

const subscriptionPath = "/api/push/subscription";
const answerTimeoutMs = 1_000; // of a page whose code for notifications may still be loading

/** Shows the notification of a push, before anything else. */
export const handlePush = async (text: string | undefined): Promise<void> => {
  const receivedAt = Date.now();
  const payload = parsePush(text);
  const device = await readPushDevice();
  const isForThisPerson = payload !== undefined && payload.data.user === device?.user;
  if (!isForThisPerson || !(await handleCallPush(payload, device))) {
    await showNotification(toNotification(payload, device, self.navigator.languages));
  }
  if (payload && isForThisPerson) {
    await closeReplaced(payload);
    void closeHandled(payload).catch(() => undefined); // not awaited: browsers handle one push after the other
  }
  // Only shown in the settings
  if (payload && device) await saveLastPush({ sentAt: payload.data.sentAt, receivedAt }).catch(() => undefined);
  // Nobody is signed in here: a sign-out that could not end the subscription is completed.
  if (!device) await (await self.registration.pushManager.getSubscription())?.unsubscribe();
  await updateBadge();
  await announceToPages({ type: "push-arrived", kind: payload?.data.kind ?? "" }); // last: a page knows the number
};

/** Asks a page to open a path in its router. Resolves to false without an answer. */
const requestPath = (client: Client, path: string): Promise<boolean> =>
  new Promise((resolve) => {
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = () => resolve(true);
    setTimeout(resolve, answerTimeoutMs, false);
    client.postMessage({ type: "open-path", path } satisfies PushWorkerMessage, [port2]);
  });

/** Opens a path in the best window, or in a new one. `hash` is a part of the page to be focused. */
const openPath = async (path: string, hash = ""): Promise<void> => {
  const client = chooseWindow(await listWindows(), path);
  const target = path + hash;
  if (!client) {
    await self.clients.openWindow(target);
    return;
  }
  await client.focus().catch(() => undefined); // a browser refuses it without a tap
  const isShown = hash === "" && new URL(client.url).pathname === path;
  if (isShown || (await requestPath(client, target))) return;
  await client.navigate(target).catch(() => self.clients.openWindow(target));
};

/** Event of a notification. `reply` is the text of its input field, null or undefined where the browser has none. */
export type NotificationClick = { notification: Notification; action: string; reply?: string | null };

/** Does what a button of a notification says, or opens its path after a tap. */
export const handleNotificationClick = async ({ notification, action, reply }: NotificationClick): Promise<void> => {
  if (action === "decline") return declineCall(notification);
  const own = action === "" ? undefined : await findOwnMessageData(notification);
  const texts = toReplyTexts(reply ?? "");
  if (own && action === "read") return markRead(notification, own);
  if (own && action === "reply" && texts.length > 0) return sendReply(notification, own, texts);
  // Sent without a text. Browsers remove the notification, or show it as being answered, until another one replaces it.
  if (own && action === "reply" && typeof reply === "string")
    return showNotification(toRepeatedNotification(notification, own));
  notification.close();
  const { path = "/app", fragment } = findNotificationData(notification) ?? {};
  await openPath(path, own && action === "reply" ? composerHash : fragment);
};

/** Saves the subscription that replaces an ended one. What fails is repeated when the app is opened. */
export const handleSubscriptionChange = async (): Promise<void> => {
  const device = await readPushDevice();
  if (!device) return;
  const manager = self.registration.pushManager;
  const subscription =
    (await manager.getSubscription()) ??
    (await manager.subscribe({ userVisibleOnly: true, applicationServerKey: device.key }));
  const body = toSubscriptionBody(subscription, device.language);
  const response = await fetch(subscriptionPath, {
    method: "PUT",
    headers: {
      "content-type": "application/json",
      [sessionTransportHeader]: "cookie",
      [personHeader]: device.user,
    },
    body: JSON.stringify(body),
  });
  if (response.ok) await savePushDevice({ ...device, endpoint: body.endpoint, key: body.key, savedAt: Date.now() });
};
