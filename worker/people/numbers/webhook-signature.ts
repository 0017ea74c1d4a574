import { createHmac, timingSafeEqual } from "node:crypto";

/** Compares a received value with a secret one in constant time. A missing secret equals nothing. */
export const isEqualSecret = (received: string, expected: string | undefined): boolean => {
  const [left, right] = [Buffer.from(received), Buffer.from(expected ?? "")];
  return right.length > 0 && left.length === right.length && timingSafeEqual(left, right);
};

const sign = (secret: string, text: string): string => createHmac("sha256", secret).update(text).digest("hex");

/** Tests `X-Hub-Signature-256` of Meta's webhooks: HMAC-SHA256 of the body with the app's secret. */
export const isSignedByMeta = (secret: string | undefined, body: string, header = ""): boolean =>
  secret !== undefined && isEqualSecret(header, `sha256=${sign(secret, body)}`);

const signatureAgeMaxMs = 5 * 60_000;

/**
 * Tests `X-Lisolo-Signature: t=<seconds>,v1=<hex>`: HMAC-SHA256 of the time, a dot and the body, five minutes old at
 * most.
 */
export const isSignedCall = (secret: string | undefined, body: string, header = "", now = Date.now()): boolean => {
  const [, seconds = "", signature = ""] = /^t=(\d{1,12}),v1=([0-9a-f]{64})$/.exec(header) ?? [];
  if (secret === undefined || Math.abs(now - Number(seconds) * 1_000) > signatureAgeMaxMs) return false;
  return isEqualSecret(signature, sign(secret, `${seconds}.${body}`));
};
