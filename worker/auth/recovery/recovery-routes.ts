import * as v from "valibot";
import { Session } from "#contract/auth/auth.ts";
import { OnwardAddress, Recover, RecoverByCode, Verify, VerifyOnward } from "#contract/auth/security.ts";
import { deletedUserId } from "#contract/ids.ts";
import { redeemProofOfWork } from "#worker/auth/proof-of-work.ts";
import { findAccount, listCredentials } from "#worker/auth/queries.ts";
import {
  joinPreconditions,
  toMailedTokenPreconditions,
  toPasswordPreconditions,
} from "#worker/auth/second-factor/preconditions.ts";
import { findRecoveryCode } from "#worker/auth/second-factor/recovery-codes.ts";
import { startSession } from "#worker/auth/sessions/open-session.ts";
import { openDb } from "#worker/db/client.ts";
import { type AppContext, createRoutes, runAfterResponse } from "#worker/lib/http/app.ts";
import { getRequestLanguage } from "#worker/lib/http/content-negotiation.ts";
import { describeOperation } from "#worker/lib/http/openapi.ts";
import { requirePublicOrigin } from "#worker/lib/http/public-origin.ts";
import { refuse } from "#worker/lib/http/refusal.ts";
import { validate } from "#worker/lib/http/validate.ts";
import { takeClientToken } from "#worker/lib/limits/client-limits.ts";
import { hashLimitKey } from "#worker/lib/limits/hashed-key.ts";
import { getClientAddress, takeToken } from "#worker/lib/limits/rate-limit.ts";
import { sendMail } from "#worker/mail/send-mail.ts";
import { createRecoveryMail } from "#worker/mail/texts.ts";
import {
  consumeMailedToken,
  findMailedTokenByCode,
  findMailedTokenByToken,
  insertRecoveryToken,
} from "./mailed-tokens.ts";
import { confirmRecoveryAddress } from "./recovery-address.ts";
import { exchangeMailedToken, findForeignRedirect, toRecoveryLink } from "./recovery-links.ts";

const RedirectTo = v.pipe(v.string(), v.maxLength(2_048));

/** Mails the owner of an address, if there is one. Runs after the response, whose timing therefore reveals nothing. */
const sendRecoveryMail = async (
  c: AppContext,
  { email, code_challenge }: v.InferOutput<typeof Recover>,
  redirectTo: string | undefined,
): Promise<void> => {
  const foreign = code_challenge ? findForeignRedirect(c, redirectTo) : undefined;
  const secrets = await insertRecoveryToken(c.env, openDb(c.env), email, foreign ? (code_challenge ?? null) : null);
  if (!secrets) return;
  const link = toRecoveryLink(c, "recovery", secrets.token, foreign);
  await sendMail(c.env, createRecoveryMail(email, getRequestLanguage(c), { link, code: secrets.code }));
};

/**
 * Refuses an invalid token. Only failures are limited, so that others at the same address cannot block a valid token.
 */
const refuseInvalidToken = async (c: AppContext, code: "otp_expired") => {
  const taken = await takeClientToken(c, "verify_by_address");
  return taken.ok ? refuse(c, code) : refuse(c, "rate_limited", taken);
};

/**
 * Verifies a mailed token or code. A recovery starts a session that may set a new password; an address change confirms
 * the address and signs nobody in.
 */
const verifyMailedToken = async (c: AppContext, { type, token_hash, email, token }: v.InferOutput<typeof Verify>) => {
  const db = openDb(c.env);
  const row =
    token_hash !== undefined
      ? await findMailedTokenByToken(db, type, token_hash)
      : email !== undefined && token !== undefined
        ? await findMailedTokenByCode(c.env, db, type, email, token)
        : undefined;
  if (!row) return refuseInvalidToken(c, "otp_expired");
  if (type === "email_change") {
    if (!(await consumeMailedToken(db, row))) return refuse(c, "otp_expired");
    const outcome = await confirmRecoveryAddress(c, row);
    if (outcome === "taken") return refuse(c, "email_exists");
    return outcome === "confirmed" ? c.json({}, 200) : refuse(c, "otp_expired");
  }
  const account = await findAccount(db, row.user_id);
  const session = account && (await startSession(c, account, "recovery", toMailedTokenPreconditions(row.hash)));
  return session ? c.json(session, 200) : refuse(c, "otp_expired");
};

export const recoveryRoutes = createRoutes()
  .post(
    "/recover",
    describeOperation({
      tag: "auth",
      summary: "Request a mail to the recovery address; the response is the same whether an account has it or not",
      isPublic: true,
      ok: { status: 200, body: v.strictObject({}) },
      refusals: ["validation_failed", "captcha_failed", "public_url_missing", "forbidden_origin"],
    }),
    requirePublicOrigin,
    validate("query", v.object({ redirect_to: v.optional(RedirectTo) }), "validation_failed"),
    validate("json", Recover, "validation_failed"),
    async (c) => {
      const body = c.req.valid("json");
      const purpose = { action: "recover", subject: body.email } as const;
      if (!(await redeemProofOfWork(c, body.gotrue_meta_security?.captcha_token, purpose)))
        return refuse(c, "captcha_failed");
      const taken = await takeToken(openDb(c.env), hashLimitKey(c.env, body.email), "recover_by_account");
      if (!taken.ok) return refuse(c, "rate_limited", taken);
      runAfterResponse(
        c.executionCtx,
        "mail a recovery link",
        sendRecoveryMail(c, body, c.req.valid("query").redirect_to),
      );
      return c.json({}, 200);
    },
  )
  .post(
    "/verify/redirect",
    describeOperation({
      tag: "auth",
      summary:
        "Exchange a mailed token for the redirect URL of the program that requested the mail, with an authorization code",
      isPublic: true,
      ok: { status: 200, body: OnwardAddress },
      refusals: ["validation_failed", "otp_expired", "public_url_missing", "forbidden_origin"],
    }),
    requirePublicOrigin,
    validate("json", VerifyOnward, "validation_failed"),
    async (c) => {
      const { token_hash, redirect_to } = c.req.valid("json");
      const foreign = findForeignRedirect(c, redirect_to);
      if (!foreign) return refuse(c, "validation_failed", { msg: "redirect_to: not acceptable" });
      const code = await exchangeMailedToken(c.env, openDb(c.env), token_hash);
      if (code === undefined) return refuseInvalidToken(c, "otp_expired");
      foreign.searchParams.set("code", code);
      return c.json({ url: foreign.href }, 200);
    },
  )
  .post(
    "/verify",
    describeOperation({
      tag: "auth",
      summary: "Verify a mailed token: signs in (recovery), or confirms an address without signing in (email_change)",
      isPublic: true,
      ok: { status: 200, body: v.union([Session, v.strictObject({})]) },
      refusals: ["validation_failed", "otp_expired", "email_exists", "forbidden_origin"],
    }),
    validate("json", Verify, "validation_failed"),
    (c) => verifyMailedToken(c, c.req.valid("json")),
  )
  .post(
    "/recover/code",
    describeOperation({
      tag: "auth",
      summary: "Sign in with the phone number and a recovery code instead of the password. Each code works once",
      isPublic: true,
      ok: { status: 200, body: Session },
      refusals: ["validation_failed", "captcha_failed", "invalid_credentials", "forbidden_origin"],
    }),
    validate("json", RecoverByCode, "validation_failed"),
    async (c) => {
      const { phone, code, gotrue_meta_security: meta } = c.req.valid("json");
      const purpose = { action: "recover_by_code", subject: phone } as const;
      if (!(await redeemProofOfWork(c, meta?.captcha_token, purpose))) return refuse(c, "captcha_failed");
      const db = openDb(c.env);
      const key = hashLimitKey(c.env, `${phone} ${getClientAddress(c.req.raw)}`);
      const taken = await takeToken(db, key, "recover_by_phone_and_address");
      if (!taken.ok) return refuse(c, "rate_limited", taken);
      const known = await listCredentials(db, phone);
      // An unknown number runs the same query with a dummy id and is refused.
      const ids = known.length > 0 ? known.map(({ id }) => id) : [deletedUserId];
      const recoveryCode = await findRecoveryCode(db, c.env, ids, code);
      const credentials = known.find(({ id }) => id === recoveryCode?.user);
      const account = credentials && (await findAccount(db, credentials.id));
      if (!recoveryCode || !account) return refuse(c, "invalid_credentials");
      const holdsPassword = toPasswordPreconditions({ user_id: credentials.id, ...credentials });
      const preconditions = joinPreconditions(holdsPassword, recoveryCode.ground);
      const session = await startSession(c, account, "recovery_code", preconditions);
      return session ? c.json(session, 200) : refuse(c, "invalid_credentials");
    },
  );
