/** Web Lock of whoever shows or lists notifications. */
export const notificationLockName = "lisolo-notifications";
const lockWaitMs = 500; // a stopped page that holds the lock must not delay a notification

/**
 * Runs work on the shown notifications while no other tab or worker of this origin does. Chromium removes a
 * notification that is being shown when notifications are listed at that moment. Without the Web Locks API, and after
 * `lockWaitMs`, the work runs at once.
 */
export const withNotificationLock = async <T>(work: () => Promise<T>): Promise<T> => {
  if (!("locks" in navigator)) return work();
  let hasStarted = false;
  const run = () => {
    hasStarted = true;
    return work();
  };
  try {
    return await navigator.locks.request(notificationLockName, { signal: AbortSignal.timeout(lockWaitMs) }, run);
  } catch (error) {
    if (hasStarted) throw error;
    return work();
  }
};

/** Notifications of this origin that are shown, as a page sees them. */
export const listShownNotifications = async (): Promise<Notification[]> => {
  const registration = await navigator.serviceWorker?.getRegistration();
  return registration ? withNotificationLock(() => registration.getNotifications()) : [];
};
