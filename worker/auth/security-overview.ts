import { and, count, desc, eq, gt } from "drizzle-orm";
import type { Security, SignedInDevice } from "#contract/auth/security.ts";
import type { Uuid } from "#contract/ids.ts";
import { sessionAbsoluteDays, sessionIdleDays } from "#contract/limits/authentication.ts";
import { dayMs } from "#contract/limits/durations.ts";
import type { Db } from "#worker/db/client.ts";
import { sessions } from "#worker/db/schema.ts";
import { account_security, factors, identities, passkeys, recovery_codes } from "#worker/db/security-schema.ts";
import type { Caller } from "#worker/lib/http/app.ts";
import { toPasskey } from "./passkeys/passkeys.ts";
import { toFactor, toIdentity } from "./queries.ts";
import { toFactorReset } from "./second-factor/factor-reset.ts";
import { getReauthenticationExpiry } from "./second-factor/reauthentication.ts";

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

/** Security settings of the caller's account. Providers are configuration and added by the route. */
export const readSecurityOverview = async (
  db: Db,
  caller: Caller,
  now: number,
): Promise<Omit<Security, "providers">> => {
  const { user, session, generation } = caller;
  const [codeApps, passkeyRows, [codes], [security], identityRows, devices] = await db.batch([
    db.select().from(factors).where(eq(factors.user_id, user)).orderBy(factors.created_at),
    db.select().from(passkeys).where(eq(passkeys.user_id, user)).orderBy(passkeys.created_at),
    db.select({ n: count() }).from(recovery_codes).where(eq(recovery_codes.user_id, user)),
    db.select().from(account_security).where(eq(account_security.user_id, user)),
    db.select().from(identities).where(eq(identities.user_id, user)).orderBy(identities.created_at),
    selectDevices(db, user, now),
  ]);
  const currentDevice = devices.find(({ id }) => id === session);
  return {
    factors: codeApps.map(toFactor),
    passkeys: passkeyRows.map(toPasskey),
    passkey_second_step: security?.passkey_step ?? false,
    recovery_codes: security?.has_codes ? (codes?.n ?? 0) : null,
    email: security?.email ?? null,
    pending_email: security?.pending_email ?? null,
    identities: identityRows.map(toIdentity),
    devices: devices.map((row) => toDevice(row, session)),
    reset: security?.reset_started_at == null ? null : toFactorReset(security.reset_started_at),
    proof_until: currentDevice ? getReauthenticationExpiry(currentDevice, generation, now) : null,
  };
};
