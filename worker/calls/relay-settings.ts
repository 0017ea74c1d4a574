import * as v from "valibot";
import type { IceServer } from "#contract/calls/ice.ts";

/**
 * Optional settings of STUN and TURN servers (docs/operating/relays.md). They are not in wrangler.toml: in production they are stored
 * beside the Worker's secrets, so that no deployment resets them, and a local server has none.
 */
const requiredString = (name: string) => v.pipe(v.optional(v.string(), ""), v.trim(), v.nonEmpty(`${name} is missing`));

/** `host`, or `host:port` for a server with only that port and no TLS. */
const hostPattern = /^([a-z0-9.-]+|\[[0-9a-f:]+\])(:\d{1,5})?$/i;
const stunPattern = /^stuns?:([a-z0-9.-]+|\[[0-9a-f:]+\])(:\d{1,5})?$/i;

const Relay = v.variant(
  "RELAY",
  [
    v.object({ RELAY: v.literal("none") }),
    v.object({
      RELAY: v.literal("cloudflare"),
      TURN_KEY_ID: v.pipe(requiredString("TURN_KEY_ID"), v.regex(/^\w+$/, "TURN_KEY_ID is no key id")),
      TURN_KEY_TOKEN: requiredString("TURN_KEY_TOKEN"),
    }),
    v.object({
      RELAY: v.literal("coturn"),
      TURN_HOST: v.pipe(requiredString("TURN_HOST"), v.regex(hostPattern, "TURN_HOST is neither a host nor host:port")),
      TURN_SECRET: requiredString("TURN_SECRET"),
    }),
  ],
  "RELAY is none of cloudflare, coturn, none",
);
export type Relay = v.InferOutput<typeof Relay>;

const StunUrls = v.pipe(
  v.optional(v.string(), ""),
  v.transform((urls) => urls.split(",").flatMap((url) => url.trim() || [])),
  v.array(v.pipe(v.string(), v.regex(stunPattern, "STUN_URLS is no list of stun:host:port with commas between"))),
);

/**
 * `wantsRelay`: a relay is configured, even if its settings are invalid. `problems` name settings, never their values.
 */
export type RelaySettings = { relay: Relay; stun: readonly IceServer[]; wantsRelay: boolean; problems: string[] };

const noRelay: Relay = { RELAY: "none" };
const listMessages = (issues: readonly v.BaseIssue<unknown>[] | undefined): string[] =>
  (issues ?? []).map(({ message }) => message);

/** Reads the settings. An invalid part is omitted and reported, so that a mistake costs the relay and not the call. */
export const readRelaySettings = (env: object): RelaySettings => {
  const { RELAY = "none", STUN_URLS } = env as { RELAY?: unknown; STUN_URLS?: unknown };
  const relay = v.safeParse(Relay, { ...env, RELAY });
  const stun = v.safeParse(StunUrls, STUN_URLS);
  return {
    relay: relay.success ? relay.output : noRelay,
    stun: stun.success && stun.output.length > 0 ? [{ urls: stun.output }] : [],
    wantsRelay: RELAY !== "none",
    problems: [...listMessages(relay.issues), ...listMessages(stun.issues)],
  };
};
