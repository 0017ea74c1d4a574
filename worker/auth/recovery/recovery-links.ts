import { createHmac } from "node:crypto";
import { and, eq, gt, isNotNull, sql } from "drizzle-orm";
import { hashAuthCode } from "#worker/auth/providers/auth-codes.ts";
import { findRedirect, isForeignUrl } from "#worker/auth/providers/redirects.ts";
import { auth_codes, mailed_tokens } from "#worker/db/account-schema.ts";
import type { Db } from "#worker/db/client.ts";
import type { AppContext } from "#worker/lib/http/app.ts";
import { getPublicOrigin } from "#worker/lib/http/public-origin.ts";
import { hashMailedToken, type MailedTokenType } from "./mailed-tokens.ts";

/**
 * Our own page, which gets the token in the fragment: no log and no other site ever sees it there, and whoever looks through
 * mails for their people and fetches the links sends nothing. `onward`: the program it leads on to.
 */
export const toRecoveryLink = (c: AppContext, type: MailedTokenType, token: string, onward?: URL): string =>
  `${getPublicOrigin(c)}/recover#${new URLSearchParams({ token, type, ...(onward && { redirect_to: onward.href }) })}`;

/** Where another program wants its people led back to, if it is one that may; our own page needs no address. */
export const findForeignRedirect = (c: AppContext, redirectTo: string | undefined): URL | undefined => {
  const url = redirectTo === undefined ? undefined : findRedirect(c, redirectTo);
  return url && isForeignUrl(c, url) ? url : undefined;
};

/**
 * Trades a link's token for the code that goes back to the program which began, and with it alone, for it knows the verifier.
 * However often that is asked the code is the same, for as long as the token was good: an answer may be lost. Undefined when
 * there is none, or it was used.
 */
export const exchangeMailedToken = async (
  env: Pick<Env, "PEPPER">,
  db: Db,
  token: string,
): Promise<string | undefined> => {
  const now = Date.now();
  const code = createHmac("sha256", env.PEPPER).update(`lisolo code of a mailed token ${token}`).digest("base64url");
  const hash = hashAuthCode(code);
  const isGood = and(
    eq(mailed_tokens.hash, hashMailedToken(token)),
    eq(mailed_tokens.type, "recovery"),
    isNotNull(mailed_tokens.code_challenge),
    gt(mailed_tokens.expires_at, now),
  );
  const [, , [traded]] = await db.batch([
    db
      .insert(auth_codes)
      .select(
        sql`SELECT ${hash}, 'recovery', user_id, NULL, NULL, NULL, NULL, NULL, code_challenge, expires_at FROM ${mailed_tokens} WHERE ${isGood}`,
      ),
    db.delete(mailed_tokens).where(isGood),
    db
      .select({ hash: auth_codes.hash })
      .from(auth_codes)
      .where(and(eq(auth_codes.hash, hash), gt(auth_codes.expires_at, now))),
  ]);
  return traded && code;
};
