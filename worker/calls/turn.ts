import * as v from "valibot";
import type { IceServer } from "#contract/calls/ice.ts";
import type { Relay } from "./relay-settings.ts";

/**
 * TURN provider: relays media for two people who have no direct path, or who must not learn each other's IP address.
 */
export interface RelayProvider {
  /**
   * Creates credentials that are valid for `ttlSeconds`. `name` is a pseudonym of one person in one call. Rejects if
   * the provider issues none, with an error that is safe to log.
   */
  createCredentials(name: string, ttlSeconds: number): Promise<IceServer[]>;
}

const encodeBase64 = (bytes: ArrayBuffer): string => btoa(String.fromCharCode(...new Uint8Array(bytes)));

const encoder = new TextEncoder();
const computeHmac = async (hash: "SHA-1" | "SHA-256", secret: string, text: string): Promise<ArrayBuffer> => {
  const algorithm = { name: "HMAC", hash };
  const key = await crypto.subtle.importKey("raw", encoder.encode(secret), algorithm, false, ["sign"]);
  return crypto.subtle.sign("HMAC", key, encoder.encode(text));
};

/** One-way pseudonym of a text. */
export const toPseudonym = async (secret: string, text: string): Promise<string> => {
  const bytes = await computeHmac("SHA-256", secret, text);
  return encodeBase64(bytes.slice(0, 16)).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
};

/**
 * Pseudonym of a person in one call. A relay can derive neither the person nor the peer from it, nor link two calls of
 * one person.
 */
export const toCallPseudonym = (secret: string, call: string, user: string): Promise<string> =>
  toPseudonym(secret, `relay:${call}:${user}`);

/**
 * Self-hosted coturn with `use-auth-secret` (draft-uberti-behave-turn-rest-00): the username starts with its expiry in
 * epoch seconds, and the credential is its HMAC-SHA1 under the shared secret. TLS uses port 443, which restrictive
 * networks let through; a host with an explicit port has no TLS.
 */
export const createCoturnProvider = (host: string, secret: string): RelayProvider => ({
  async createCredentials(name, ttlSeconds) {
    const username = `${Math.floor(Date.now() / 1_000) + ttlSeconds}:${name}`;
    const hasPort = /:\d+$/.test(host);
    const hostAndPort = hasPort ? host : `${host}:3478`;
    const urls = [
      `turn:${hostAndPort}?transport=udp`,
      `turn:${hostAndPort}?transport=tcp`,
      ...(hasPort ? [] : [`turns:${host}:443?transport=tcp`]),
    ];
    return [{ urls, username, credential: encodeBase64(await computeHmac("SHA-1", secret, username)) }];
  },
});

const cloudflareApi = "https://rtc.live.cloudflare.com/v1/turn/keys";
const cloudflareTimeoutMs = 3_000;

/** Response of Cloudflare's API; `urls` as in RTCIceServer. */
const CloudflareIceServers = v.object({
  iceServers: v.array(
    v.object({
      urls: v.union([
        v.array(v.string()),
        v.pipe(
          v.string(),
          v.transform((url) => [url]),
        ),
      ]),
      username: v.optional(v.string()),
      credential: v.optional(v.string()),
    }),
  ),
});

/** Browsers block port 53. */
const isReachable = (url: string): boolean => !/:53(\?|$)/.test(url);
const transportPatterns = [/^turn:.*transport=udp/, /^turn:.*transport=tcp/, /^turns:/];
/** One URL each for UDP, TCP and TLS: every offered URL costs each phone an allocation, used or not. */
const pickUrls = (urls: readonly string[]): string[] =>
  transportPatterns.flatMap((pattern) => {
    const matching = urls.filter((url) => pattern.test(url) && isReachable(url));
    return (
      matching.find((url) => url.includes(":443")) ?? matching.find((url) => url.includes(":3478")) ?? matching[0] ?? []
    );
  });

/** Cloudflare's TURN service (developers.cloudflare.com/realtime/turn/generate-credentials). */
const createCloudflareProvider = (keyId: string, token: string): RelayProvider => ({
  async createCredentials(_name, ttlSeconds) {
    const response = await fetch(`${cloudflareApi}/${keyId}/credentials/generate-ice-servers`, {
      method: "POST",
      headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
      body: JSON.stringify({ ttl: ttlSeconds }),
      signal: AbortSignal.timeout(cloudflareTimeoutMs),
    }).catch((error: unknown) => {
      throw new Error(`Cloudflare's TURN service is unreachable: ${error instanceof Error ? error.name : "?"}`);
    });
    if (!response.ok) {
      await response.body?.cancel();
      throw new Error(`Cloudflare's TURN service responded with status ${response.status}`);
    }
    const parsed = v.safeParse(CloudflareIceServers, await response.json().catch(() => undefined));
    if (!parsed.success) throw new Error("Cloudflare's TURN service responded with something other than ICE servers");
    const servers = parsed.output.iceServers.flatMap(({ urls, username, credential }) => {
      const picked = pickUrls(urls);
      return picked.length > 0 && username && credential ? [{ urls: picked, username, credential }] : [];
    });
    if (servers.length === 0) throw new Error("Cloudflare's TURN service returned no relay");
    return servers;
  },
});

/** Provider of the configured relay, if any. */
export const createRelayProvider = (relay: Relay): RelayProvider | undefined => {
  switch (relay.RELAY) {
    case "cloudflare":
      return createCloudflareProvider(relay.TURN_KEY_ID, relay.TURN_KEY_TOKEN);
    case "coturn":
      return createCoturnProvider(relay.TURN_HOST, relay.TURN_SECRET);
    case "none":
      return undefined;
  }
};
