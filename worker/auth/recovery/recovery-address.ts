import { and, eq, inArray } from "drizzle-orm";
import { sendSecurityNotice } from "#worker/auth/security-notices.ts";
import { findOwnSession } from "#worker/auth/sessions/current-session.ts";
import { readDeviceName } from "#worker/auth/sessions/device-name.ts";
import { type Db, openDb } from "#worker/db/client.ts";
import { account_security, auth_codes, mailed_tokens } from "#worker/db/security-schema.ts";
import { type AppContext, runAfterResponse } from "#worker/lib/http/app.ts";
import { getRequestLanguage } from "#worker/lib/http/content-negotiation.ts";
import { hashLimitKey } from "#worker/lib/limits/hashed-key.ts";
import { type RateLimitResult, takeTokens } from "#worker/lib/limits/rate-limit.ts";
import { sendMail } from "#worker/mail/send-mail.ts";
import { createConfirmationMail, createFormerAddressMail } from "#worker/mail/texts.ts";
import { insertConfirmationToken, type MailedTokenRow } from "./mailed-tokens.ts";
import { toRecoveryLink } from "./recovery-links.ts";

type RecoveryAddressColumns = { email: string | null; pending_email: string | null };

const findRecoveryAddress = (db: Db, user: string): Promise<RecoveryAddressColumns | undefined> =>
  db
    .select({ email: account_security.email, pending_email: account_security.pending_email })
    .from(account_security)
    .where(eq(account_security.user_id, user))
    .get();

/** Statements that invalidate the mailed tokens and recovery codes in transit of an account. */
const deleteMailedTokens = (db: Db, user: string, types: MailedTokenRow["type"][]) =>
  [
    db.delete(mailed_tokens).where(and(eq(mailed_tokens.user_id, user), inArray(mailed_tokens.type, types))),
    db.delete(auth_codes).where(and(eq(auth_codes.user_id, user), eq(auth_codes.method, "recovery"))),
  ] as const;

/**
 * Takes the rate-limit tokens for the mails of an address change: the caller's and the address's. Free if the address
 * is removed or unchanged.
 */
export const takeMailLimits = async (c: AppContext, email: string): Promise<RateLimitResult> => {
  const { user } = c.var.caller;
  const db = openDb(c.env);
  if (email === "" || email === (await findRecoveryAddress(db, user))?.email) return { ok: true };
  return takeTokens(db, [
    ["mail_by_user", user],
    ["recover_by_account", `change ${hashLimitKey(c.env, email)}`],
  ]);
};

/**
 * Starts a change of the caller's recovery address; the current one stays valid until the new one is confirmed by mail.
 * "" removes both at once. Only the reader of the mail learns whether the address belongs to another account. The route
 * must require reauthentication and take the limits (`takeMailLimits`) first.
 */
export const setRecoveryAddress = async (c: AppContext, email: string): Promise<void> => {
  const { user, session } = c.var.caller;
  const db = openDb(c.env);
  const before = await findRecoveryAddress(db, user);
  const language = getRequestLanguage(c);
  const mailFormerAddress = (to: string, reason: "change" | "removal") =>
    runAfterResponse(
      c.executionCtx,
      "mail the former recovery address",
      sendMail(c.env, createFormerAddressMail(to, language, reason)),
    );

  if (email === "") {
    await db.batch([
      db.update(account_security).set({ email: null, pending_email: null }).where(eq(account_security.user_id, user)),
      ...deleteMailedTokens(db, user, ["recovery", "email_change"]),
    ]);
    if (!before?.email) return;
    mailFormerAddress(before.email, "removal");
    sendSecurityNotice(c, user, { event: "email_removed", session, device: readDeviceName(c) });
    return;
  }
  if (email === before?.email) {
    await db.batch([
      db.update(account_security).set({ pending_email: null }).where(eq(account_security.user_id, user)),
      db.delete(mailed_tokens).where(and(eq(mailed_tokens.user_id, user), eq(mailed_tokens.type, "email_change"))),
    ]);
    return;
  }
  await db
    .insert(account_security)
    .values({ user_id: user, pending_email: email })
    .onConflictDoUpdate({ target: account_security.user_id, set: { pending_email: email } });
  const { token, code } = await insertConfirmationToken(c.env, db, user, email);
  const link = toRecoveryLink(c, "email_change", token);
  runAfterResponse(
    c.executionCtx,
    "mail the new recovery address",
    sendMail(c.env, createConfirmationMail(email, language, { link, code })),
  );
  if (before?.email) mailFormerAddress(before.email, "change");
};

const isAddressConflict = (error: unknown): boolean => {
  for (let at = error; at instanceof Error; at = at.cause) {
    if (/UNIQUE constraint failed: account_security\.email/.test(at.message)) return true;
  }
  return false;
};

/** Confirms a pending recovery address. Mails sent to the previous address become invalid. */
export const confirmRecoveryAddress = async (
  c: AppContext,
  { user_id: user, email }: Pick<MailedTokenRow, "user_id" | "email">,
): Promise<"confirmed" | "taken" | "outdated"> => {
  const db = openDb(c.env);
  const pending = and(eq(account_security.user_id, user), eq(account_security.pending_email, email));
  try {
    const [[before], changed] = await db.batch([
      db.select({ email: account_security.email }).from(account_security).where(pending),
      db
        .update(account_security)
        .set({ email, pending_email: null })
        .where(pending)
        .returning({ user_id: account_security.user_id }),
      ...deleteMailedTokens(db, user, ["recovery"]),
    ]);
    if (changed.length === 0) return "outdated";
    const event = before?.email == null ? "email_added" : "email_changed";
    // A confirmation in a signed-in browser names its session, so that the notice is not shown to the person who just
    // did it.
    sendSecurityNotice(c, user, { event, session: await findOwnSession(c, user), device: readDeviceName(c) });
    return "confirmed";
  } catch (error) {
    if (!isAddressConflict(error)) throw error;
    await db.update(account_security).set({ pending_email: null }).where(pending);
    return "taken";
  }
};
