/** Cache with the saved push subscription (`push-device.ts`). */
export const pushCacheName = "push";

const removeSubscription = async (): Promise<void> => {
  if (!("caches" in globalThis) || !(await caches.delete(pushCacheName))) return;
  const registration = await navigator.serviceWorker?.getRegistration();
  if (!registration) return;
  for (const notification of await registration.getNotifications()) notification.close();
  const subscription = await registration.pushManager?.getSubscription();
  await subscription?.unsubscribe();
};

let ending: Promise<void> | undefined;

/**
 * Ends notifications on this device at once, also offline: the subscription and the shown notifications are removed.
 * Costs one look into the cache where they were never on.
 */
export const endPush = (): Promise<void> => {
  ending ??= removeSubscription().finally(() => {
    ending = undefined;
  });
  return ending;
};
