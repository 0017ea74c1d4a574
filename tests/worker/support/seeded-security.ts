import { env } from "cloudflare:workers";
import { createUuid, type Uuid } from "#contract/ids.ts";
import { openDb } from "#worker/db/client.ts";
import { group_invitations, invitations } from "#worker/db/relation-schema.ts";
import { number_claims, number_notices } from "#worker/db/schema.ts";
import {
  account_security,
  auth_codes,
  ceremonies,
  factors,
  identities,
  mailed_tokens,
  number_proofs,
  number_vouches,
  oauth_flows,
  passkeys,
  recovery_codes,
} from "#worker/db/security-schema.ts";
import { type RateLimitName, rateLimitPolicies } from "#worker/lib/limits/rate-limit.ts";
import { drainBucket } from "./site.ts";

/** Inserts every sign-in method besides the password, and every pending proof. Returns the recovery address. */
export const seedSecurity = async (user: Uuid, session: Uuid, expires_at = Date.now() + 3_600_000): Promise<string> => {
  const db = openDb(env);
  const email = `${user}@example.org`;
  const created_at = Date.now();
  const [own, name] = [{ user_id: user, created_at }, "Téléphone"];
  const [id, asked] = [() => createUuid(), { user_id: user, session_id: session, expires_at }];
  const from = { provider: "essai", subject: createUuid(), email, name };
  await db.batch([
    db.insert(account_security).values({ user_id: user, email, user_handle: id(), has_codes: true }),
    db.insert(factors).values({ ...own, id: id(), friendly_name: name, secret: "", updated_at: created_at }),
    db.insert(recovery_codes).values({ user_id: user, hash: id() }),
    db
      .insert(passkeys)
      .values({ ...own, id: id(), credential_id: id(), public_key: "", counter: 0, is_synced: false, name }),
    db.insert(ceremonies).values({ ...asked, id: id(), kind: "passkey_step", challenge: id() }),
    db
      .insert(mailed_tokens)
      .values({ hash: id(), code_hash: id(), user_id: user, type: "recovery", email, expires_at }),
    db.insert(identities).values({ ...own, ...from, id: id(), used_at: created_at }),
    db.insert(oauth_flows).values({
      ...asked,
      state: id(),
      provider: "essai",
      nonce: "",
      verifier: "",
      redirect_to: "",
      code_challenge: "",
    }),
    db
      .insert(number_proofs)
      .values({ ...asked, id: id(), phone: "", method: "sms_code", adapter: "essai", created_at }),
    db.insert(number_vouches).values({ voucher_id: user, lookup: id(), created_at }),
    db.insert(invitations).values({ user_id: user, token: id(), expires_at, uses: 0 }),
    db.insert(group_invitations).values({
      ...{ id: id(), group_id: id(), from_user_id: user, to_user_id: user, created_at, updated_at: created_at },
      ...{ is_contact: false, status: "pending" as const },
    }),
    db.insert(number_claims).values({ user_id: user, phone: "", created_at, is_former: true }),
    db.insert(number_notices).values({ user_id: user, other_id: user, kind: "changed" }),
    db
      .insert(auth_codes)
      .values({ ...from, user_id: user, hash: id(), method: "oauth", code_challenge: "", expires_at }),
  ]);
  const limits = (Object.keys(rateLimitPolicies) as RateLimitName[]).filter((limit) => limit.endsWith("_by_user"));
  for (const limit of limits) await drainBucket(limit, user);
  return email;
};
