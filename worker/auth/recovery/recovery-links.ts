import { createHmac } from "node:crypto";
import { and, eq, gt, isNotNull, sql } from "drizzle-orm";
import { hashAuthCode } from "#worker/auth/providers/auth-codes.ts";
import { findRedirect, isForeignUrl } from "#worker/auth/providers/redirects.ts";
import type { Db } from "#worker/db/client.ts";
import { auth_codes, mailed_tokens } from "#worker/db/security-schema.ts";
import type { AppContext } from "#worker/lib/http/app.ts";
import { getPublicOrigin } from "#worker/lib/http/public-origin.ts";
import { hashMailedToken, type MailedTokenType } from "./mailed-tokens.ts";

/**
 * Link to our own page. The token is in the fragment, which appears in no log and no referrer, and link scanners of
 * mail servers do not send it. `onward`: the program that the page redirects to.
 */
export const toRecoveryLink = (c: AppContext, type: MailedTokenType, token: string, onward?: URL): string =>
  `${getPublicOrigin(c)}/recover#${new URLSearchParams({ token, type, ...(onward && { redirect_to: onward.href }) })}`;

/** Validated redirect of another program; undefined for our own pages, which need none. */
export const findForeignRedirect = (c: AppContext, redirectTo: string | undefined): URL | undefined => {
  const url = redirectTo === undefined ? undefined : findRedirect(c, redirectTo);
  return url && isForeignUrl(c, url) ? url : undefined;
};

/**
 * Exchanges a link's token for the authorization code of the program that started the recovery, which alone knows its
 * verifier. The code is derived from the token, so a repeated request returns the same one while the token is valid: a
 * response may be lost. Returns undefined if there is no such token or it was used.
 */
export const exchangeMailedToken = async (
  env: Pick<Env, "PEPPER">,
  db: Db,
  token: string,
): Promise<string | undefined> => {
  const now = Date.now();
  const code = createHmac("sha256", env.PEPPER).update(`lisolo code of a mailed token ${token}`).digest("base64url");
  const hash = hashAuthCode(code);
  const isExchangeable = and(
    eq(mailed_tokens.hash, hashMailedToken(token)),
    eq(mailed_tokens.type, "recovery"),
    isNotNull(mailed_tokens.code_challenge),
    gt(mailed_tokens.expires_at, now),
  );
  const [, , [exchanged]] = await db.batch([
    db
      .insert(auth_codes)
      .select(
        sql`SELECT ${hash}, 'recovery', user_id, NULL, NULL, NULL, NULL, NULL, code_challenge, expires_at FROM ${mailed_tokens} WHERE ${isExchangeable}`,
      ),
    db.delete(mailed_tokens).where(isExchangeable),
    db
      .select({ hash: auth_codes.hash })
      .from(auth_codes)
      .where(and(eq(auth_codes.hash, hash), gt(auth_codes.expires_at, now))),
  ]);
  return exchanged && code;
};
