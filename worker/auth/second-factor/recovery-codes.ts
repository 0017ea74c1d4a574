import { createHmac, randomInt } from "node:crypto";
import { eq, sql } from "drizzle-orm";
import type { Uuid } from "#contract/ids.ts";
import { recoveryCodesCount } from "#contract/limits/authentication.ts";
import type { Db } from "#worker/db/client.ts";
import { account_security, recovery_codes } from "#worker/db/security-schema.ts";
import { type AuthPreconditions, toRecoveryCodePreconditions } from "./preconditions.ts";

// Crockford's base 32, which omits look-alike characters.
const alphabet = "0123456789abcdefghjkmnpqrstvwxyz";
const groupCount = 3;
const groupLength = 4; // 3 × 4 characters of 5 bits: 60 bits, enough with few attempts

const createCodeGroup = (): string =>
  Array.from({ length: groupLength }, () => alphabet[randomInt(alphabet.length)]).join("");
const createCode = (): string => Array.from({ length: groupCount }, createCodeGroup).join("-");

/** Normalises a typed recovery code. */
const normalizeCode = (code: string): string =>
  code
    .normalize("NFKC")
    .toLowerCase()
    .replace(/[\s\p{Pd}]/gu, "")
    .replaceAll("o", "0")
    .replace(/[il]/g, "1");

const hashRecoveryCode = ({ PEPPER }: Pick<Env, "PEPPER">, user: Uuid, code: string): string =>
  createHmac("sha256", PEPPER)
    .update(`lisolo recovery code ${user} ${normalizeCode(code)}`)
    .digest("base64url");

/** Creates new recovery codes and invalidates all earlier ones. */
export const replaceRecoveryCodes = async (db: Db, env: Pick<Env, "PEPPER">, user: Uuid): Promise<string[]> => {
  const codes = Array.from({ length: recoveryCodesCount }, createCode);
  await db.batch([
    db.delete(recovery_codes).where(eq(recovery_codes.user_id, user)),
    db.insert(recovery_codes).values(codes.map((code) => ({ user_id: user, hash: hashRecoveryCode(env, user, code) }))),
    db
      .insert(account_security)
      .values({ user_id: user, has_codes: true })
      .onConflictDoUpdate({ target: account_security.user_id, set: { has_codes: true } }),
  ]);
  return codes;
};

/**
 * Finds a recovery code of one of these people, by one query however many they are. Its preconditions consume it: of
 * several concurrent uses exactly one succeeds.
 */
export const findRecoveryCode = async (
  db: Db,
  env: Pick<Env, "PEPPER">,
  users: readonly Uuid[],
  code: string,
): Promise<{ user: Uuid; ground: AuthPreconditions } | undefined> => {
  const pairs = JSON.stringify(users.map((user) => ({ user, hash: hashRecoveryCode(env, user, code) })));
  const found = await db
    .select({ user: recovery_codes.user_id, hash: recovery_codes.hash })
    .from(recovery_codes)
    .where(
      sql`(${recovery_codes.user_id}, ${recovery_codes.hash}) IN (SELECT value ->> 'user', value ->> 'hash' FROM json_each(${pairs}))`,
    )
    .get();
  return found && { user: found.user, ground: toRecoveryCodePreconditions(found.user, found.hash) };
};
