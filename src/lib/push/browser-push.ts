import { getLanguage } from "#i18n/current-language.ts";
import { endPush } from "#lib/browser/push/end-push.ts";
import { readPushDevice, savePushDevice } from "#lib/browser/push/push-device.ts";
import { pushUse, pushUserKey, readPushUser } from "#lib/browser/push/push-use.ts";
import { requestApi } from "#lib/http/api.ts";
import { getSession } from "#lib/session/session.ts";
import { DevicePush, type PushPlatform } from "./device-push.ts";

const workerTimeoutMs = 10_000;

/** Apple's tablets claim to be a Mac, but a Mac has no touch screen. */
const isIos = (): boolean =>
  /iPhone|iPad|iPod/.test(navigator.userAgent) || (/Mac/.test(navigator.userAgent) && navigator.maxTouchPoints > 1);

const isStandalone = (): boolean =>
  matchMedia("(display-mode: standalone)").matches || Reflect.get(navigator, "standalone") === true;

const saveWantedUser = (user: string | undefined): void => {
  try {
    if (user === undefined) localStorage.removeItem(pushUserKey);
    else localStorage.setItem(pushUserKey, user);
  } catch {
    // Storage is full or forbidden: notifications stay off after the next start.
  }
  if (user !== undefined && pushUse.get() === "none") pushUse.set("on");
};

const browserPlatform: PushPlatform = {
  readEnvironment: () => ({
    hasPush: "serviceWorker" in navigator && "PushManager" in globalThis && "Notification" in globalThis,
    isIos: isIos(),
    isStandalone: isStandalone(),
    permission: "Notification" in globalThis ? Notification.permission : "default",
  }),
  requestPermission: () => Notification.requestPermission(),
  getRegistration: async () => {
    const timeout = new Promise<undefined>((resolve) => setTimeout(resolve, workerTimeoutMs, undefined));
    return (await Promise.race([navigator.serviceWorker.ready, timeout]))?.pushManager;
  },
  getUser: () => getSession()?.userId,
  getLanguage,
  readWantedUser: readPushUser,
  saveWantedUser,
  readDevice: readPushDevice,
  saveDevice: savePushDevice,
  end: endPush,
  request: requestApi,
  now: Date.now,
};

/** Notifications of the closed app in this browser. */
export const devicePush = new DevicePush(browserPlatform);
