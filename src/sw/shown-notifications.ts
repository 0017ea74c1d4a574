import * as v from "valibot";
import { withNotificationLock } from "#lib/browser/push/notification-lock.ts";
import { NotificationData, type PushNotification } from "./push-notification.ts";

/** Shown notifications, as the service worker sees them, and the number on the app's icon. */
declare const self: ServiceWorkerGlobalScope;

/** Shows a notification. It replaces the one with the same tag. */
export const showNotification = ({ title, options }: PushNotification): Promise<void> =>
  withNotificationLock(() => self.registration.showNotification(title, options));

export const listNotifications = (): Promise<Notification[]> =>
  withNotificationLock(() => self.registration.getNotifications());

export const findNotificationData = (notification: Notification): NotificationData | undefined => {
  const parsed = v.safeParse(NotificationData, notification.data);
  return parsed.success ? parsed.output : undefined;
};

/** Sets the number on the app's icon to the unread messages of the shown notifications, where icons have one. */
export const updateBadge = async (): Promise<void> => {
  if (!("setAppBadge" in self.navigator)) return;
  const shown = await listNotifications();
  const count = shown.reduce((sum, notification) => sum + (findNotificationData(notification)?.count ?? 0), 0);
  await self.navigator.setAppBadge(count).catch(() => undefined);
};
