import { hourMs } from "#contract/limits/durations.ts";
import { pushTimeoutMs } from "#contract/limits/push.ts";
import type { PushPayload } from "#contract/push.ts";
import { logWarning } from "#worker/lib/log.ts";
import { encryptPush, type PushKeys } from "./encryption.ts";
import { isAllowedEndpoint, type PushServiceEnv } from "./endpoints.ts";
import { createVapidHeader, type VapidEnv } from "./vapid.ts";

type PushSenderEnv = VapidEnv & PushServiceEnv;

/** A device that receives pushes. `origin` is the public address under which it subscribed. */
export type PushTarget = PushKeys & { endpoint: string; origin: string };

/**
 * How a push service treats a push (RFC 8030 §5): it keeps it for `lifetimeSeconds`, and a later push with the same
 * `topic` (at most 32 characters of base64url) replaces it. One of low urgency waits until the device is used, and one
 * of normal urgency until a sleeping phone wakes up by itself.
 */
export type PushOptions = { lifetimeSeconds: number; topic?: string; urgency?: "low" | "normal" | "high" };

/**
 * Answer of a push service. `gone`: it does not know the subscription (any more). `retry`: it is overloaded or
 * unreachable; `afterMs` is the time it asks to wait. `rejected`: this request would fail again.
 */
export type PushResult =
  | { type: "delivered" }
  | { type: "gone" }
  | { type: "retry"; afterMs: number | undefined }
  | { type: "rejected" };

const retryAfterMaxMs = 6 * hourMs;

/** Milliseconds of a Retry-After header (RFC 9110 §10.2.3): seconds, or a date. */
const readRetryAfterMs = ({ headers }: Response): number | undefined => {
  const value = headers.get("retry-after")?.trim() ?? "";
  const ms = /^\d+$/.test(value) ? Number(value) * 1_000 : Date.parse(value) - Date.now();
  return Number.isFinite(ms) && ms > 0 ? Math.min(ms, retryAfterMaxMs) : undefined;
};

/** Address of the request: the endpoint, or its path on the push service that a local build uses for tests. */
const toRequestUrl = (env: object, endpoint: string): string => {
  if (!LOCAL_MAILBOX) return endpoint;
  const { PUSH_RELAY: relay = "" } = env as { PUSH_RELAY?: string };
  const { pathname, search } = new URL(endpoint);
  return relay === "" ? endpoint : new URL(relay).origin + pathname + search;
};

/** Log entries name the host only: the rest of the endpoint identifies the device. */
const logFailure = (endpoint: string, reason: string): void =>
  logWarning("a push failed", new Error(`${URL.parse(endpoint)?.hostname}: ${reason}`));

const classifyResponse = (endpoint: string, response: Response): PushResult => {
  const { status } = response;
  if (status >= 200 && status < 300) return { type: "delivered" };
  if (status === 404 || status === 410) return { type: "gone" };
  logFailure(endpoint, `status ${status}`);
  if (status === 408 || status === 429 || status >= 500) return { type: "retry", afterMs: readRetryAfterMs(response) };
  return { type: "rejected" };
};

/** Sends a push to a device. Never throws. */
export const sendPush = async (
  env: PushSenderEnv,
  target: PushTarget,
  payload: PushPayload,
  { lifetimeSeconds, topic, urgency = "high" }: PushOptions,
): Promise<PushResult> => {
  const { endpoint, origin } = target;
  if (!isAllowedEndpoint(env, endpoint)) {
    logFailure(endpoint, "not an allowed push service");
    return { type: "rejected" };
  }
  try {
    const body = await encryptPush(target, JSON.stringify(payload));
    const authorization = await createVapidHeader(env, endpoint, origin);
    const response = await fetch(toRequestUrl(env, endpoint), {
      method: "POST",
      headers: {
        authorization,
        "content-encoding": "aes128gcm",
        "content-type": "application/octet-stream",
        ttl: String(lifetimeSeconds),
        urgency, // unless high, a push of normal urgency reaches a sleeping phone minutes late
        ...(topic === undefined ? {} : { topic }),
      },
      body,
      redirect: "manual", // the target of a redirect would not have been checked
      signal: AbortSignal.timeout(pushTimeoutMs),
    });
    await response.body?.cancel();
    return classifyResponse(endpoint, response);
  } catch (error) {
    // The message of a network error may contain the address.
    logFailure(endpoint, error instanceof Error ? error.name : typeof error);
    return error instanceof RangeError ? { type: "rejected" } : { type: "retry", afterMs: undefined };
  }
};
