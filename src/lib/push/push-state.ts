import type { Uuid } from "#contract/ids.ts";
import type { Language } from "#contract/language.ts";
import { dayMs } from "#contract/limits/durations.ts";
import type { PushDevice } from "#lib/browser/push/push-device.ts";

/**
 * Notifications of the closed app on this device. `needs-home-screen`: an iPhone has them only for an app on its home
 * screen. `default`: the browser would ask for the permission. `off`: permitted, but not turned on.
 */
export type PushState = "unsupported" | "needs-home-screen" | "default" | "denied" | "off" | "on";

export type PushEnvironment = {
  hasPush: boolean;
  isIos: boolean;
  /** Whether the app was opened from the home screen. */
  isStandalone: boolean;
  permission: NotificationPermission;
};

export const resolvePushState = (
  { hasPush, isIos, isStandalone, permission }: PushEnvironment,
  isSubscribed: boolean,
): PushState => {
  if (!hasPush) return isIos && !isStandalone ? "needs-home-screen" : "unsupported";
  if (permission !== "granted") return permission;
  return isSubscribed ? "on" : "off";
};

const saveIntervalMs = 7 * dayMs;

/** Whether the server may not have the subscription that the browser has, or has had it for long. */
export const isRenewalDue = (
  saved: PushDevice | undefined,
  current: { user: Uuid; language: Language; endpoint: string | undefined; key: string; now: number },
): boolean => {
  if (!saved || saved.user !== current.user || saved.language !== current.language) return true;
  if (saved.endpoint !== current.endpoint || saved.key !== current.key) return true;
  // A time in the future was written before the clock was set back.
  return current.now - saved.savedAt > saveIntervalMs || saved.savedAt > current.now;
};
