import type { Call } from "../../contract/calls";
import type { IceServers } from "../../contract/ice";
import type { Uuid } from "../../contract/ids";
import { openDb } from "../db/client";
import { findConnection } from "../db/relations";
import { findSettings } from "../settings/queries";
import { readRelaySettings } from "./relay-settings";
import { nameInCall, toProvider } from "./turn";

const ttlSeconds = 2 * 3_600;
/** For so long after they connected, two people do not learn each other's address. */
const newcomerMs = 24 * 3_600_000;

const readSettings = (env: Env) => {
  const settings = readRelaySettings(env);
  for (const problem of settings.problems) console.error("calls do without what is not set up:", problem);
  return settings;
};

/** Both hide from who is new to them; from everybody who wants it so. */
const isHidden = async (env: Env, { from, to }: Call, user: Uuid): Promise<boolean> => {
  const db = openDb(env);
  const [connection, { settings }] = await Promise.all([findConnection(db, from, to), findSettings(db, user)]);
  const isNew = connection === undefined || Date.now() - connection.created_at < newcomerMs;
  return isNew || settings.hidesAddress;
};

/**
 * The servers for one person's devices in a call that is open. A relay that gives nothing costs the relay only;
 * without `mayAsk` none is asked.
 */
export const makeIceServers = async (env: Env, call: Call, user: Uuid, mayAsk = true): Promise<IceServers> => {
  const { relay, stun, isMeant } = readSettings(env);
  const name = await nameInCall(env.PEPPER, call.call_id, user);
  const [hide, relays] = await Promise.all([
    isMeant && isHidden(env, call, user),
    (mayAsk ? toProvider(relay) : undefined)?.mint(name, ttlSeconds).catch((error: unknown) => {
      console.error("a call is without a relay:", error instanceof Error ? error.message : "?");
      return [];
    }),
  ]);
  const found = relays ?? [];
  return { ice_servers: [...stun, ...found], ttl: ttlSeconds, relays: found.length > 0, hide };
};
