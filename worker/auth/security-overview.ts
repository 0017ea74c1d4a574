import { and, count, desc, eq, gt } from "drizzle-orm";
import type { FactorReset, Security, SignedInDevice } from "#contract/auth/security.ts";
import type { Uuid } from "#contract/ids.ts";
import { factorResetHours, sessionAbsoluteDays, sessionIdleDays } from "#contract/limits.ts";
import { account_security, factors, identities, passkeys, recovery_codes } from "#worker/db/account-schema.ts";
import type { Db } from "#worker/db/client.ts";
import { sessions } from "#worker/db/schema.ts";
import type { Caller } from "#worker/lib/http/app.ts";
import { toPasskey } from "./passkeys/passkeys.ts";
import { toFactor, toIdentity } from "./queries.ts";
import { getReauthenticationExpiry } from "./second-factor/reauthentication.ts";

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;

/** Full sessions that can still be renewed, most recently used first. */
const selectDevices = (db: Db, user: Uuid, now: number) =>
  db
    .select({
      id: sessions.id,
      device: sessions.device,
      created_at: sessions.created_at,
      refreshed_at: sessions.refreshed_at,
      proved_at: sessions.proved_at,
      proved_generation: sessions.proved_generation,
    })
    .from(sessions)
    .where(
      and(
        eq(sessions.user_id, user),
        eq(sessions.awaits, false),
        gt(sessions.refreshed_at, now - sessionIdleDays * dayMs),
        gt(sessions.created_at, now - sessionAbsoluteDays * dayMs),
      ),
    )
    .orderBy(desc(sessions.refreshed_at), desc(sessions.id));
type DeviceSessionRow = Awaited<ReturnType<typeof selectDevices>>[number];

const toDevice = ({ id, device, created_at, refreshed_at }: DeviceSessionRow, current: Uuid): SignedInDevice => ({
  id,
  device,
  created_at,
  used_at: refreshed_at,
  current: id === current,
});

export const listDevices = async (db: Db, { user, session }: Caller, now: number): Promise<SignedInDevice[]> =>
  (await selectDevices(db, user, now)).map((row) => toDevice(row, session));

const toOptionalReset = (started_at: number | null): FactorReset | null =>
  started_at === null ? null : { started_at, due_at: started_at + factorResetHours * hourMs };

/** Security settings of the caller's account. Providers are configuration and added by the route. */
export const readSecurityOverview = async (
  db: Db,
  caller: Caller,
  now: number,
): Promise<Omit<Security, "providers">> => {
  const { user, session, generation } = caller;
  const [apps, keys, [codes], [own], others, devices] = await db.batch([
    db.select().from(factors).where(eq(factors.user_id, user)).orderBy(factors.created_at),
    db.select().from(passkeys).where(eq(passkeys.user_id, user)).orderBy(passkeys.created_at),
    db.select({ n: count() }).from(recovery_codes).where(eq(recovery_codes.user_id, user)),
    db.select().from(account_security).where(eq(account_security.user_id, user)),
    db.select().from(identities).where(eq(identities.user_id, user)).orderBy(identities.created_at),
    selectDevices(db, user, now),
  ]);
  const here = devices.find(({ id }) => id === session);
  return {
    factors: apps.map(toFactor),
    passkeys: keys.map(toPasskey),
    passkey_second_step: own?.passkey_step ?? false,
    recovery_codes: own?.has_codes ? (codes?.n ?? 0) : null,
    email: own?.email ?? null,
    pending_email: own?.pending_email ?? null,
    identities: others.map(toIdentity),
    devices: devices.map((row) => toDevice(row, session)),
    reset: toOptionalReset(own?.reset_started_at ?? null),
    proof_until: here ? getReauthenticationExpiry(here, generation, now) : null,
  };
};
