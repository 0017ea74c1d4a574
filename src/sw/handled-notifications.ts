import type { PushPayload } from "#contract/push.ts";
import { sleep } from "#lib/browser/time/sleep.ts";
import { findNotificationData, listNotifications } from "./shown-notifications.ts";

/** Notifications that a push ends. */

const handledShownMs = 5_000;

/** Closes the notifications whose place that of a push has taken. */
export const closeReplaced = async ({ data: { replaces = [] } }: PushPayload): Promise<void> => {
  if (replaces.length === 0) return;
  for (const shown of await listNotifications()) if (replaces.includes(shown.tag)) shown.close();
};

/**
 * Closes the notification of a push that says that it needs no attention any more. It is shown for some seconds,
 * because browsers withdraw the permission of an app that receives pushes and shows nothing.
 */
export const closeHandled = async ({ notification: { tag }, data: { isHandled } }: PushPayload): Promise<void> => {
  if (!isHandled) return;
  await sleep(handledShownMs);
  for (const shown of await listNotifications())
    if (shown.tag === tag && findNotificationData(shown)?.isHandled) shown.close();
};
