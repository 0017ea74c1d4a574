import type { Call } from "#contract/calls/call.ts";
import type { IceServers } from "#contract/calls/ice.ts";
import type { Uuid } from "#contract/ids.ts";
import { relayCredentialSeconds } from "#contract/limits/calls.ts";
import { dayMs } from "#contract/limits/durations.ts";
import { openDb } from "#worker/db/client.ts";
import { findConnection } from "#worker/db/relations.ts";
import { takeToken } from "#worker/lib/limits/rate-limit.ts";
import { getUserSettings } from "#worker/settings/queries.ts";
import { type Relay, readRelaySettings } from "./relay-settings.ts";
import { createRelayProvider, type RelayProvider, toCallPseudonym } from "./turn.ts";

/** period after connecting in which two people do not learn each other's IP address */
const newContactMs = dayMs;

const readAndLogRelaySettings = (env: Env) => {
  const settings = readRelaySettings(env);
  for (const problem of settings.problems) console.error("calls run without an invalid setting:", problem);
  return settings;
};

/**
 * Tests whether a person's IP address must be hidden from the peer: from new contacts always, from others if the
 * setting says so.
 */
const shouldHideAddress = async (env: Env, { from, to }: Call, user: Uuid): Promise<boolean> => {
  const db = openDb(env);
  const [connection, { settings }] = await Promise.all([findConnection(db, from, to), getUserSettings(db, user)]);
  const isNew = connection === undefined || Date.now() - connection.created_at < newContactMs;
  return isNew || settings.hidesAddress;
};

/** Relay provider, if one is configured and the person's daily quota is not used up. */
const findRelayProvider = async (env: Env, relay: Relay, user: Uuid): Promise<RelayProvider | undefined> => {
  const provider = createRelayProvider(relay);
  return provider && (await takeToken(openDb(env), user, "relay_by_user")).ok ? provider : undefined;
};

/**
 * ICE servers for one person's devices in an open call. If the relay fails, the list is returned without it. With
 * `mayAsk` false no relay is asked.
 */
export const createIceServers = async (env: Env, call: Call, user: Uuid, mayAsk = true): Promise<IceServers> => {
  const { relay, stun, wantsRelay } = readAndLogRelaySettings(env);
  const name = await toCallPseudonym(env.PEPPER, call.call_id, user);
  const provider = mayAsk ? await findRelayProvider(env, relay, user) : undefined;
  const [hidesAddress, relays] = await Promise.all([
    wantsRelay && shouldHideAddress(env, call, user),
    provider?.createCredentials(name, relayCredentialSeconds).catch((error: unknown) => {
      console.error("a call runs without a relay:", error instanceof Error ? error.message : "?");
      return [];
    }),
  ]);
  const relayServers = relays ?? [];
  return {
    ice_servers: [...stun, ...relayServers],
    ttl: relayCredentialSeconds,
    relays: relayServers.length > 0,
    hide: hidesAddress,
  };
};
