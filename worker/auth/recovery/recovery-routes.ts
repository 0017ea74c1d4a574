import * as v from "valibot";
import { Session } from "#contract/auth/auth.ts";
import { OnwardAddress, Recover, RecoverByCode, Verify, VerifyOnward } from "#contract/auth/security.ts";
import { nobody, type Uuid } from "#contract/ids.ts";
import { toE164 } from "#contract/phone.ts";
import { redeemProof } from "#worker/auth/proof-of-work.ts";
import { findAccount, findCredentials } from "#worker/auth/queries.ts";
import { byMail, byPassword, together } from "#worker/auth/second-factor/preconditions.ts";
import { findRecoveryCode } from "#worker/auth/second-factor/recovery-codes.ts";
import { startSession } from "#worker/auth/sessions/open-session.ts";
import { openDb } from "#worker/db/client.ts";
import { type AppContext, afterAnswer, createRoutes } from "#worker/lib/http/app.ts";
import { languageOf } from "#worker/lib/http/language.ts";
import { operation } from "#worker/lib/http/openapi.ts";
import { requirePublicOrigin } from "#worker/lib/http/public-origin.ts";
import { refuse } from "#worker/lib/http/refusal.ts";
import { validate } from "#worker/lib/http/validate.ts";
import { takeClientToken } from "#worker/lib/limits/client-limits.ts";
import { addressOf, takeToken } from "#worker/lib/limits/rate-limit.ts";
import { sendMail } from "#worker/mail/send-mail.ts";
import { recoveryMail } from "#worker/mail/texts.ts";
import { findByCode, findByToken, hashOfAddress, insertRecovery, takeMailed } from "./mailed-tokens.ts";
import { confirmRecoveryAddress } from "./recovery-address.ts";
import { findForeign, toOwnPage, tradeToken } from "./recovery-links.ts";

type Credentials = { id: Uuid; password_hash: string };

const Redirect = v.pipe(v.string(), v.maxLength(2_048));

/** Writes to whoever has this address, if anybody has. All of it comes after the answer, which therefore tells nothing. */
const mailRecovery = async (
  c: AppContext,
  { email, code_challenge }: v.InferOutput<typeof Recover>,
  redirectTo: string | undefined,
): Promise<void> => {
  const foreign = code_challenge ? findForeign(c, redirectTo) : undefined;
  const mailed = await insertRecovery(c.env, openDb(c.env), email, foreign ? (code_challenge ?? null) : null);
  if (!mailed) return;
  const link = toOwnPage(c, "recovery", mailed.token, foreign);
  await sendMail(c.env, recoveryMail(email, languageOf(c), { link, code: mailed.code }));
};

/** Refuses what is none of ours. Only that costs: nobody behind the same address keeps others from what is right. */
const refuseWrong = async (c: AppContext, code: "otp_expired") => {
  const taken = await takeClientToken(c, "verify_by_address");
  return taken.ok ? refuse(c, code) : refuse(c, "rate_limited", taken);
};

/** What a mail was answered with: a session that may set a new password, or an address that is confirmed and nobody signed in. */
const answerMail = async (c: AppContext, { type, token_hash, email, token }: v.InferOutput<typeof Verify>) => {
  const db = openDb(c.env);
  const row =
    token_hash !== undefined
      ? await findByToken(db, type, token_hash)
      : email !== undefined && token !== undefined
        ? await findByCode(c.env, db, type, email, token)
        : undefined;
  if (!row) return refuseWrong(c, "otp_expired");
  if (type === "email_change") {
    if (!(await takeMailed(db, row))) return refuse(c, "otp_expired");
    const outcome = await confirmRecoveryAddress(c, row);
    if (outcome === "taken") return refuse(c, "email_exists");
    return outcome === "confirmed" ? c.json({}, 200) : refuse(c, "otp_expired");
  }
  const account = await findAccount(db, row.user_id);
  const session = account && (await startSession(c, account, "recovery", byMail(row.hash)));
  return session ? c.json(session, 200) : refuse(c, "otp_expired");
};

export const recoveryRoutes = createRoutes()
  .post(
    "/recover",
    operation({
      tag: "auth",
      summary: "Ask for a mail to the recovery address; the answer is the same whoever has it, if anybody",
      open: true,
      ok: { status: 200, body: v.strictObject({}) },
      refusals: ["validation_failed", "captcha_failed", "public_url_missing", "forbidden_origin"],
    }),
    requirePublicOrigin,
    validate("query", v.object({ redirect_to: v.optional(Redirect) }), "validation_failed"),
    validate("json", Recover, "validation_failed"),
    async (c) => {
      const body = c.req.valid("json");
      const purpose = { action: "recover", subject: body.email } as const;
      if (!(await redeemProof(c, body.gotrue_meta_security?.captcha_token, purpose)))
        return refuse(c, "captcha_failed");
      const taken = await takeToken(openDb(c.env), hashOfAddress(c.env, body.email), "recover_by_account");
      if (!taken.ok) return refuse(c, "rate_limited", taken);
      afterAnswer(c.executionCtx, "mail a recovery", mailRecovery(c, body, c.req.valid("query").redirect_to));
      return c.json({}, 200);
    },
  )
  .post(
    "/verify/redirect",
    operation({
      tag: "auth",
      summary: "Trade a mail's token for the address of the program that asked for the mail, with a code for it",
      open: true,
      ok: { status: 200, body: OnwardAddress },
      refusals: ["validation_failed", "otp_expired", "public_url_missing", "forbidden_origin"],
    }),
    requirePublicOrigin,
    validate("json", VerifyOnward, "validation_failed"),
    async (c) => {
      const { token_hash, redirect_to } = c.req.valid("json");
      const foreign = findForeign(c, redirect_to);
      if (!foreign) return refuse(c, "validation_failed", { msg: "redirect_to: not acceptable" });
      const code = await tradeToken(c.env, openDb(c.env), token_hash);
      if (code === undefined) return refuseWrong(c, "otp_expired");
      foreign.searchParams.set("code", code);
      return c.json({ url: foreign.href }, 200);
    },
  )
  .post(
    "/verify",
    operation({
      tag: "auth",
      summary:
        "Show what a mail brought: signs in (recovery), or confirms an address and signs nobody in (email_change)",
      open: true,
      ok: { status: 200, body: v.union([Session, v.strictObject({})]) },
      refusals: ["validation_failed", "otp_expired", "email_exists", "forbidden_origin"],
    }),
    validate("json", Verify, "validation_failed"),
    (c) => answerMail(c, c.req.valid("json")),
  )
  .post(
    "/recover/code",
    operation({
      tag: "auth",
      summary: "Sign in with the phone and a recovery code in the password's place. It works once",
      open: true,
      ok: { status: 200, body: Session },
      refusals: ["validation_failed", "captcha_failed", "invalid_credentials", "forbidden_origin"],
    }),
    validate("json", RecoverByCode, "validation_failed"),
    async (c) => {
      const { phone, code, gotrue_meta_security: meta } = c.req.valid("json");
      const purpose = { action: "recover_by_code", subject: toE164(phone) ?? phone } as const;
      if (!(await redeemProof(c, meta?.captcha_token, purpose))) return refuse(c, "captcha_failed");
      const db = openDb(c.env);
      const key = hashOfAddress(c.env, `${toE164(phone) ?? phone} ${addressOf(c.req.raw)}`);
      const taken = await takeToken(db, key, "recover_by_phone_and_address");
      if (!taken.ok) return refuse(c, "rate_limited", taken);
      const known: Credentials = (await findCredentials(db, phone)) ?? { id: nobody, password_hash: "" };
      // For nobody the same is asked, and the answer is no.
      const found = await findRecoveryCode(db, c.env, known.id, code);
      const account = found && (await findAccount(db, known.id));
      const ground = found && together(byPassword({ user_id: known.id, ...known }), found.ground);
      const session = account && ground && (await startSession(c, account, "recovery_code", ground));
      return session ? c.json(session, 200) : refuse(c, "invalid_credentials");
    },
  );
