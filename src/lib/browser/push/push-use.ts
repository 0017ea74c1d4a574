import { Observable } from "#lib/browser/observable.ts";

/** Storage key of the person who turned on notifications here. It outlives an expired session, not a sign-out. */
export const pushUserKey = "push-user";

export const readPushUser = (): string | undefined => {
  try {
    return localStorage.getItem(pushUserKey) ?? undefined;
  } catch {
    return undefined; // storage is forbidden
  }
};

/** Whether a person receives notifications on this device while no page of the app is visible. */
export const hasSystemNotifications = (user: string | undefined): boolean =>
  user !== undefined && readPushUser() === user && globalThis.Notification?.permission === "granted";

/**
 * Why this page loads the code of notifications for the closed app: they are on, or the person has sent a message or
 * ended a call, after which they may be asked.
 */
export const pushUse = new Observable<"none" | "on" | "may-ask">(readPushUser() === undefined ? "none" : "on");
