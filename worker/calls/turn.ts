import * as v from "valibot";
import type { IceServer } from "#contract/calls/ice.ts";
import type { Relay } from "./relay-settings.ts";

/** Whoever passes media on for two people who find no other way, or who are not to learn each other's address. */
export interface RelayProvider {
  /**
   * Credentials of its servers that hold for so long. `name` says nothing to the relay but that they are of one person
   * in one call. Rejects when there are none to be had, with an error whose message may be logged: it quotes nothing.
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

/** A name for what these words say, which does not tell it. */
export const toPseudonym = async (secret: string, words: string): Promise<string> => {
  const bytes = await computeHmac("SHA-256", secret, words);
  return encodeBase64(bytes.slice(0, 16)).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
};

/**
 * What one person is to a relay in one call: it tells neither who they are nor whom they call, and two calls of
 * theirs are nobody's in common.
 */
export const toCallPseudonym = (secret: string, call: string, user: string): Promise<string> =>
  toPseudonym(secret, `relay:${call}:${user}`);

/**
 * A coturn of one's own with `use-auth-secret` (draft-uberti-behave-turn-rest-00): the username begins with the second at
 * which it ends, the credential is its HMAC-SHA1 under the shared secret. TLS is on 443, where networks that let
 * nothing else through let it pass; a host with a port has neither that nor TLS.
 */
export const createCoturnProvider = (host: string, secret: string): RelayProvider => ({
  async createCredentials(name, ttlSeconds) {
    const username = `${Math.floor(Date.now() / 1_000) + ttlSeconds}:${name}`;
    const hasPort = /:\d+$/.test(host);
    const plain = hasPort ? host : `${host}:3478`;
    const urls = [
      `turn:${plain}?transport=udp`,
      `turn:${plain}?transport=tcp`,
      ...(hasPort ? [] : [`turns:${host}:443?transport=tcp`]),
    ];
    return [{ urls, username, credential: encodeBase64(await computeHmac("SHA-1", secret, username)) }];
  },
});

const cloudflareApi = "https://rtc.live.cloudflare.com/v1/turn/keys";
const cloudflareTimeoutMs = 3_000;

/** What Cloudflare answers; `urls` as RTCIceServer has it. */
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

/** Browsers let nothing go to port 53. */
const isReachable = (url: string): boolean => !/:53(\?|$)/.test(url);
const transportPatterns = [/^turn:.*transport=udp/, /^turn:.*transport=tcp/, /^turns:/];
/** One way by UDP, one by TCP, one by TLS: each that is offered costs every phone an allocation, used or not. */
const pickUrls = (urls: readonly string[]): string[] =>
  transportPatterns.flatMap((pattern) => {
    const ways = urls.filter((url) => pattern.test(url) && isReachable(url));
    return ways.find((url) => url.includes(":443")) ?? ways.find((url) => url.includes(":3478")) ?? ways[0] ?? [];
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
      throw new Error(`Cloudflare's TURN service was not reached: ${error instanceof Error ? error.name : "?"}`);
    });
    if (!response.ok) {
      await response.body?.cancel();
      throw new Error(`Cloudflare's TURN service answered ${response.status}`);
    }
    const minted = v.safeParse(CloudflareIceServers, await response.json().catch(() => undefined));
    if (!minted.success) throw new Error("Cloudflare's TURN service answered something else than ICE servers");
    const servers = minted.output.iceServers.flatMap(({ urls, username, credential }) => {
      const picked = pickUrls(urls);
      return picked.length > 0 && username && credential ? [{ urls: picked, username, credential }] : [];
    });
    if (servers.length === 0) throw new Error("Cloudflare's TURN service named no relay");
    return servers;
  },
});

/** The relay that is set up, if one is. */
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
