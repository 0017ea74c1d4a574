import { eq } from "drizzle-orm";
import type { SecurityNotice } from "#contract/auth/security-notice.ts";
import { createUuid, type Uuid } from "#contract/ids.ts";
import type { Language } from "#contract/language.ts";
import { openDb } from "#worker/db/client.ts";
import { account_security } from "#worker/db/security-schema.ts";
import { type AppContext, runAfterResponse } from "#worker/lib/http/app.ts";
import { getRequestLanguage } from "#worker/lib/http/content-negotiation.ts";
import type { Mail } from "#worker/mail/mail.ts";
import { sendMail } from "#worker/mail/send-mail.ts";
import { withRetry } from "#worker/objects/shared/retry.ts";
import { getUserChannelStub } from "#worker/objects/stubs.ts";

/** Notifies a person's devices, including those that connect later, of a change to the account. */
export const sendSecurityNotice = (c: AppContext, user: Uuid, notice: Omit<SecurityNotice, "id" | "at">): void => {
  const now = Date.now();
  const stamped = { ...notice, id: createUuid(now), at: now };
  runAfterResponse(
    c.executionCtx,
    "push a security notice",
    withRetry(() => getUserChannelStub(c.env, user).addSecurityNotice(stamped)),
  );
};

const mailRecoveryAddress = async (c: AppContext, user: Uuid, createMail: (to: string, language: Language) => Mail) => {
  const security = await openDb(c.env)
    .select({ email: account_security.email })
    .from(account_security)
    .where(eq(account_security.user_id, user))
    .get();
  if (security?.email) await sendMail(c.env, createMail(security.email, getRequestLanguage(c)));
};

/** Mails the confirmed recovery address, if there is one. The response does not reveal whether a mail was sent. */
export const mailSecurityNotice = (
  c: AppContext,
  user: Uuid,
  createMail: (to: string, language: Language) => Mail,
): void => runAfterResponse(c.executionCtx, "mail a security notice", mailRecoveryAddress(c, user, createMail));
