import * as v from "valibot";
import type { PushWorkerMessage } from "#lib/browser/push/push-messages.ts";
import { NotificationData } from "./push-notification.ts";

/** Pages and shown notifications, as the service worker sees them. */
declare const self: ServiceWorkerGlobalScope;

export const listWindows = () => self.clients.matchAll({ type: "window", includeUncontrolled: true });

/** Sends a message to all pages of this origin. */
export const announceToPages = async (message: PushWorkerMessage): Promise<void> => {
  for (const client of await listWindows()) client.postMessage(message);
};

export const findNotificationData = (notification: Notification): NotificationData | undefined => {
  const parsed = v.safeParse(NotificationData, notification.data);
  return parsed.success ? parsed.output : undefined;
};

/** Sets the number on the app's icon to the unread messages of the shown notifications, where icons have one. */
export const updateBadge = async (): Promise<void> => {
  if (!("setAppBadge" in self.navigator)) return;
  const shown = await self.registration.getNotifications();
  const count = shown.reduce((sum, notification) => sum + (findNotificationData(notification)?.count ?? 0), 0);
  await self.navigator.setAppBadge(count).catch(() => undefined);
};
