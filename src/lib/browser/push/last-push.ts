import * as v from "valibot";
import { pushCacheName } from "./end-push.ts";

/** Last push that reached this device, recorded by the service worker. It ends with the subscription. */
const LastPush = v.object({
  /** When the server sent it, by the server's clock. */
  sentAt: v.number(),
  /** When it arrived, by this device's clock. */
  receivedAt: v.number(),
});
export type LastPush = v.InferOutput<typeof LastPush>;

const cacheKey = "/last-push";

export const readLastPush = async (): Promise<LastPush | undefined> => {
  try {
    if (!(await caches.has(pushCacheName))) return undefined;
    const found = await (await caches.open(pushCacheName)).match(cacheKey);
    const parsed = v.safeParse(LastPush, await found?.json());
    return parsed.success ? parsed.output : undefined;
  } catch {
    return undefined;
  }
};

/** Records a push, while this device has a subscription. */
export const saveLastPush = async (push: LastPush): Promise<void> => {
  if (await caches.has(pushCacheName)) await (await caches.open(pushCacheName)).put(cacheKey, Response.json(push));
};
