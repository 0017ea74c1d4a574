import type { Call } from "../../contract/calls";
import type { IceServers } from "../../contract/ice";
import type { Uuid } from "../../contract/ids";
import { openDb } from "../db/client";
import { findConnection } from "../db/relations";
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

const isNew = async (env: Env, { from, to }: Call): Promise<boolean> => {
  const connection = await findConnection(openDb(env), from, to);
  return connection === undefined || Date.now() - connection.created_at < newcomerMs;
};

/**
 * The servers for one person's devices in a call that is open. A relay that gives nothing costs the relay only;
 * without `mayAsk` none is asked.
 */
export const makeIceServers = async (env: Env, call: Call, user: Uuid, mayAsk = true): Promise<IceServers> => {
  const { relay, stun, isMeant } = readSettings(env);
  const name = await nameInCall(env.PEPPER, call.call_id, user);
  const [hide, relays] = await Promise.all([
    isMeant && isNew(env, call),
    (mayAsk ? toProvider(relay) : undefined)?.mint(name, ttlSeconds).catch((error: unknown) => {
      console.error("a call is without a relay:", error instanceof Error ? error.message : "?");
      return [];
    }),
  ]);
  const found = relays ?? [];
  return { ice_servers: [...stun, ...found], ttl: ttlSeconds, relays: found.length > 0, hide };
};
