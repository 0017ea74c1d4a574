import { createHash, createHmac, randomBytes, randomInt, timingSafeEqual } from "node:crypto";
import { and, eq, gt, lt, sql } from "drizzle-orm";
import type { Uuid } from "#contract/ids.ts";
import { mailedTokenMinutes } from "#contract/limits/authentication.ts";
import type { Db } from "#worker/db/client.ts";
import { account_security, auth_codes, mailed_tokens } from "#worker/db/security-schema.ts";

export type MailedTokenType = (typeof mailed_tokens.$inferSelect)["type"];
export type MailedTokenRow = typeof mailed_tokens.$inferSelect;
/** Secrets of a mail: the link's token of 256 bits, and an eight-digit code to type. */
type MailedSecrets = { token: string; code: string };
const codeDigits = 8;
const wrongCodesMax = 5;

export const hashMailedToken = (token: string): string =>
  createHash("sha256").update(`lisolo mailed token ${token}`).digest("base64url");

/** Keyed hash, because an eight-digit code could be recovered from a plain hash. */
const hashMailedCode = ({ PEPPER }: Pick<Env, "PEPPER">, type: MailedTokenType, email: string, code: string): string =>
  createHmac("sha256", PEPPER).update(`lisolo mailed code ${type} ${email} ${code}`).digest("base64url");

const createMailedSecrets = (): MailedSecrets => ({
  token: randomBytes(32).toString("base64url"),
  code: String(randomInt(10 ** codeDigits)).padStart(codeDigits, "0"),
});

const toExpiry = (now: number): number => now + mailedTokenMinutes * 60_000;

/**
 * Replaces the recovery token of a confirmed address. Returns undefined if no account has the address, after running
 * the same statements, so that timing reveals nothing.
 */
export const insertRecoveryToken = async (
  env: Pick<Env, "PEPPER">,
  db: Db,
  email: string,
  code_challenge: string | null,
): Promise<MailedSecrets | undefined> => {
  const now = Date.now();
  const secrets = createMailedSecrets();
  const row = {
    hash: hashMailedToken(secrets.token),
    code_hash: hashMailedCode(env, "recovery", email, secrets.code),
    expires_at: toExpiry(now),
  };
  const owner = sql`(SELECT user_id FROM ${account_security} WHERE email = ${email})`;
  const [, , inserted] = await db.batch([
    db.delete(mailed_tokens).where(and(eq(mailed_tokens.type, "recovery"), eq(mailed_tokens.email, email))),
    db.delete(auth_codes).where(and(eq(auth_codes.method, "recovery"), sql`${auth_codes.user_id} = ${owner}`)),
    db
      .insert(mailed_tokens)
      .select(
        sql`SELECT ${row.hash}, ${row.code_hash}, user_id, 'recovery', email, 0, ${code_challenge}, ${row.expires_at} FROM ${account_security} WHERE email = ${email}`,
      )
      .returning({ user_id: mailed_tokens.user_id }),
  ]);
  return inserted.length === 1 ? secrets : undefined;
};

/** Replaces the confirmation token of an account with one for a new address. */
export const insertConfirmationToken = async (
  env: Pick<Env, "PEPPER">,
  db: Db,
  user: Uuid,
  email: string,
): Promise<MailedSecrets> => {
  const now = Date.now();
  const secrets = createMailedSecrets();
  await db.batch([
    db.delete(mailed_tokens).where(and(eq(mailed_tokens.type, "email_change"), eq(mailed_tokens.user_id, user))),
    db.insert(mailed_tokens).values({
      hash: hashMailedToken(secrets.token),
      code_hash: hashMailedCode(env, "email_change", email, secrets.code),
      user_id: user,
      type: "email_change",
      email,
      expires_at: toExpiry(now),
    }),
  ]);
  return secrets;
};

const findMailedToken = (
  db: Db,
  type: MailedTokenType,
  hash: string,
  now: number,
): Promise<MailedTokenRow | undefined> =>
  db
    .select()
    .from(mailed_tokens)
    .where(and(eq(mailed_tokens.hash, hash), eq(mailed_tokens.type, type), gt(mailed_tokens.expires_at, now)))
    .get();

/** Deletes a mailed token. Of several concurrent callers exactly one gets true. */
export const consumeMailedToken = async (db: Db, { hash }: MailedTokenRow): Promise<boolean> =>
  (await db.delete(mailed_tokens).where(eq(mailed_tokens.hash, hash)).returning({ hash: mailed_tokens.hash }))
    .length === 1;

/** Finds the mailed token of a link. The batch that writes the result consumes the row. */
export const findMailedTokenByToken = (
  db: Db,
  type: MailedTokenType,
  token: string,
): Promise<MailedTokenRow | undefined> => findMailedToken(db, type, hashMailedToken(token), Date.now());

/**
 * Finds a mailed token by address and typed code. Each attempt is counted before it is compared. After five wrong codes
 * only the link still works, so that knowing the address is not enough to invalidate the mail.
 */
export const findMailedTokenByCode = async (
  env: Pick<Env, "PEPPER">,
  db: Db,
  type: MailedTokenType,
  email: string,
  typed: string,
): Promise<MailedTokenRow | undefined> => {
  const now = Date.now();
  const candidates = await db
    .update(mailed_tokens)
    .set({ misses: sql`${mailed_tokens.misses} + 1` })
    .where(
      and(
        eq(mailed_tokens.email, email),
        eq(mailed_tokens.type, type),
        lt(mailed_tokens.misses, wrongCodesMax),
        gt(mailed_tokens.expires_at, now),
      ),
    )
    .returning({ hash: mailed_tokens.hash, code_hash: mailed_tokens.code_hash });
  const code_hash = Buffer.from(hashMailedCode(env, type, email, typed.replace(/\D/g, "")));
  const matching = candidates.find((row) => timingSafeEqual(Buffer.from(row.code_hash), code_hash));
  return findMailedToken(db, type, matching?.hash ?? "", now);
};
