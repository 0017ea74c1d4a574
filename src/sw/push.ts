import * as v from "valibot";
import { personHeader, sessionTransportHeader } from "#contract/auth/auth.ts";
import { saveLastPush } from "#lib/browser/push/last-push.ts";
import { readPushDevice, savePushDevice, toSubscriptionBody } from "#lib/browser/push/push-device.ts";
import type { PushWorkerMessage } from "#lib/browser/push/push-messages.ts";
import { chooseWindow } from "./choose-window.ts";
import { NotificationData, parsePush, toNotification } from "./push-notification.ts";

/** Push events of the service worker. */
declare const self: ServiceWorkerGlobalScope;

const subscriptionPath = "/api/push/subscription";
const answerTimeoutMs = 1_000; // of a page whose code for notifications may still be loading

const listWindows = () => self.clients.matchAll({ type: "window", includeUncontrolled: true });

const parseData = (notification: Notification): NotificationData | undefined => {
  const parsed = v.safeParse(NotificationData, notification.data);
  return parsed.success ? parsed.output : undefined;
};

/** Sets the number on the app's icon to the unread messages of the shown notifications, where icons have one. */
const updateBadge = async (): Promise<void> => {
  if (!("setAppBadge" in self.navigator)) return;
  const shown = await self.registration.getNotifications();
  await self.navigator.setAppBadge(shown.reduce((sum, one) => sum + (parseData(one)?.count ?? 0), 0));
};

/** Shows the notification of a push, before anything else. */
export const handlePush = async (text: string | undefined): Promise<void> => {
  const receivedAt = Date.now();
  const payload = parsePush(text);
  const device = await readPushDevice();
  const { title, options } = toNotification(payload, device, self.navigator.languages);
  await self.registration.showNotification(title, options);
  if (payload && device) await saveLastPush({ sentAt: payload.data.sentAt, receivedAt }).catch(() => undefined); // only shown in the settings
  // Nobody is signed in here: a sign-out that could not end the subscription is completed.
  if (!device) await (await self.registration.pushManager.getSubscription())?.unsubscribe();
  const message: PushWorkerMessage = { type: "push-arrived", kind: payload?.data.kind ?? "" };
  for (const client of await listWindows()) client.postMessage(message);
  await updateBadge().catch(() => undefined);
};

/** Asks a page to open a path in its router. Resolves to false without an answer. */
const requestPath = (client: Client, path: string): Promise<boolean> =>
  new Promise((resolve) => {
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = () => resolve(true);
    setTimeout(resolve, answerTimeoutMs, false);
    client.postMessage({ type: "open-path", path } satisfies PushWorkerMessage, [port2]);
  });

/** Opens the path of a tapped notification in the best window, or in a new one. */
export const handleNotificationClick = async (notification: Notification): Promise<void> => {
  notification.close();
  const path = parseData(notification)?.path ?? "/app";
  const client = chooseWindow(await listWindows(), path);
  if (!client) {
    await self.clients.openWindow(path);
    return;
  }
  await client.focus().catch(() => undefined); // a browser refuses it without a tap
  if (new URL(client.url).pathname === path || (await requestPath(client, path))) return;
  await client.navigate(path).catch(() => self.clients.openWindow(path));
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
