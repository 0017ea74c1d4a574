import { createHash, randomBytes } from "node:crypto";
import { and, eq, gt } from "drizzle-orm";
import type { PkceGrant } from "#contract/auth/sign-in.ts";
import type { Db } from "#worker/db/client.ts";
import { auth_codes } from "#worker/db/security-schema.ts";

/**
 * Authorization codes in redirect URLs (RFC 6749 §4.1.2), each bound to the PKCE verifier of the client that started
 * the flow (RFC 7636, S256). A code read from a URL is useless without the verifier, and a wrong verifier does not
 * consume the code.
 */
export type AuthCode = typeof auth_codes.$inferSelect;

const sha256 = (text: string): string => createHash("sha256").update(text).digest("base64url");
export const hashAuthCode = (code: string): string => sha256(`lisolo auth code ${code}`);

/** Stores the subject of a new code and returns the code. */
export const issueAuthCode = async (db: Db, row: Omit<typeof auth_codes.$inferInsert, "hash">): Promise<string> => {
  const code = randomBytes(32).toString("base64url");
  await db.insert(auth_codes).values({ ...row, hash: hashAuthCode(code) });
  return code;
};

/** Finds a valid code whose verifier matches. The batch that writes the result consumes the row. */
export const findAuthCode = async (
  db: Db,
  { auth_code, code_verifier }: PkceGrant,
): Promise<AuthCode | "flow_state_not_found" | "bad_code_verifier"> => {
  const row = await db
    .select()
    .from(auth_codes)
    .where(and(eq(auth_codes.hash, hashAuthCode(auth_code)), gt(auth_codes.expires_at, Date.now())))
    .get();
  if (!row) return "flow_state_not_found";
  return row.code_challenge === sha256(code_verifier) ? row : "bad_code_verifier";
};
