import * as v from "valibot";
import { Uuid } from "#contract/ids.ts";
import { type Language, languages } from "#contract/language.ts";
import type { PushSubscriptionBody } from "#contract/push.ts";
import { pushCacheName } from "./end-push.ts";

/**
 * Push subscription of this device as the server has it. It exists only while the person who turned notifications on is
 * signed in here, and it is in a cache because the service worker reads it too.
 */
const PushDevice = v.object({
  user: Uuid,
  language: v.picklist(languages),
  endpoint: v.string(),
  key: v.string(),
  /** Time of the last save on the server, epoch milliseconds. */
  savedAt: v.number(),
});
export type PushDevice = v.InferOutput<typeof PushDevice>;

const cacheKey = "/push-device";

export const readPushDevice = async (): Promise<PushDevice | undefined> => {
  try {
    const found = await (await caches.open(pushCacheName)).match(cacheKey);
    const parsed = v.safeParse(PushDevice, await found?.json());
    return parsed.success ? parsed.output : undefined;
  } catch {
    return undefined;
  }
};

export const savePushDevice = async (device: PushDevice): Promise<void> =>
  (await caches.open(pushCacheName)).put(cacheKey, Response.json(device));

/** Bytes in base64url. */
const toBase64Url = (bytes: ArrayBuffer | null | undefined): string =>
  btoa(String.fromCharCode(...new Uint8Array(bytes ?? new ArrayBuffer())))
    .replaceAll("+", "-")
    .replaceAll("/", "_")
    .replaceAll("=", "");

/** Server's key that a subscription was made with. */
export const getSubscriptionKey = ({ options }: Pick<PushSubscription, "options">): string =>
  toBase64Url(options.applicationServerKey);

export const toSubscriptionBody = (
  subscription: Pick<PushSubscription, "endpoint" | "getKey" | "options">,
  language: Language,
): PushSubscriptionBody => ({
  endpoint: subscription.endpoint,
  p256dh: toBase64Url(subscription.getKey("p256dh")),
  auth: toBase64Url(subscription.getKey("auth")),
  key: getSubscriptionKey(subscription),
  language,
});
