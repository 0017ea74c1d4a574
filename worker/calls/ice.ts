import type { Call } from "#contract/calls/call.ts";
import type { IceServers } from "#contract/calls/ice.ts";
import type { Uuid } from "#contract/ids.ts";
import { relayCredentialSeconds } from "#contract/limits.ts";
import { openDb } from "#worker/db/client.ts";
import { findConnection } from "#worker/db/relations.ts";
import { takeToken } from "#worker/lib/limits/rate-limit.ts";
import { getUserSettings } from "#worker/settings/queries.ts";
import { type Relay, readRelaySettings } from "./relay-settings.ts";
import { createRelayProvider, type RelayProvider, toCallPseudonym } from "./turn.ts";

/** For so long after they connected, two people do not learn each other's address. */
const newContactMs = 24 * 3_600_000;

const readAndLogRelaySettings = (env: Env) => {
  const settings = readRelaySettings(env);
  for (const problem of settings.problems) console.error("calls do without what is not set up:", problem);
  return settings;
};

/** Both hide from who is new to them; from everybody who wants it so. */
const shouldHideAddress = async (env: Env, { from, to }: Call, user: Uuid): Promise<boolean> => {
  const db = openDb(env);
  const [connection, { settings }] = await Promise.all([findConnection(db, from, to), getUserSettings(db, user)]);
  const isNew = connection === undefined || Date.now() - connection.created_at < newContactMs;
  return isNew || settings.hidesAddress;
};

/** The relay, if one is set up and the person's of the day are not used up. */
const findRelayProvider = async (env: Env, relay: Relay, user: Uuid): Promise<RelayProvider | undefined> => {
  const provider = createRelayProvider(relay);
  return provider && (await takeToken(openDb(env), user, "relay_by_user")).ok ? provider : undefined;
};

/**
 * The servers for one person's devices in a call that is open. A relay that gives nothing costs the relay only;
 * without `mayAsk` none is asked.
 */
export const createIceServers = async (env: Env, call: Call, user: Uuid, mayAsk = true): Promise<IceServers> => {
  const { relay, stun, wantsRelay } = readAndLogRelaySettings(env);
  const name = await toCallPseudonym(env.PEPPER, call.call_id, user);
  const provider = mayAsk ? await findRelayProvider(env, relay, user) : undefined;
  const [hide, relays] = await Promise.all([
    wantsRelay && shouldHideAddress(env, call, user),
    provider?.createCredentials(name, relayCredentialSeconds).catch((error: unknown) => {
      console.error("a call is without a relay:", error instanceof Error ? error.message : "?");
      return [];
    }),
  ]);
  const found = relays ?? [];
  return { ice_servers: [...stun, ...found], ttl: relayCredentialSeconds, relays: found.length > 0, hide };
};
