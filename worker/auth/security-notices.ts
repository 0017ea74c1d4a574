import { eq } from "drizzle-orm";
import type { SecurityNotice } from "#contract/auth/security.ts";
import { createUuid, type Uuid } from "#contract/ids.ts";
import type { Language } from "#contract/language.ts";
import { account_security } from "#worker/db/account-schema.ts";
import { openDb } from "#worker/db/client.ts";
import { type AppContext, afterAnswer } from "#worker/lib/http/app.ts";
import { languageOf } from "#worker/lib/http/language.ts";
import type { Mail } from "#worker/mail/mail.ts";
import { sendMail } from "#worker/mail/send-mail.ts";
import { withRetry } from "#worker/objects/shared/retry.ts";
import { userChannelOf } from "#worker/objects/stubs.ts";

/** Tells a person's devices, those too that come later, what became of the account. */
export const notify = (c: AppContext, user: Uuid, notice: Omit<SecurityNotice, "id" | "at">): void => {
  const now = Date.now();
  const whole = { ...notice, id: createUuid(now), at: now };
  afterAnswer(
    c.executionCtx,
    "tell of a change to an account",
    withRetry(() => userChannelOf(c.env, user).warn(user, whole)),
  );
};

const mailToOwner = async (c: AppContext, user: Uuid, write: (to: string, language: Language) => Mail) => {
  const kept = await openDb(c.env)
    .select({ email: account_security.email })
    .from(account_security)
    .where(eq(account_security.user_id, user))
    .get();
  if (kept?.email) await sendMail(c.env, write(kept.email, languageOf(c)));
};

/** Tells the confirmed recovery address too, if there is one: whoever did it learns of neither. */
export const notifyByMail = (c: AppContext, user: Uuid, write: (to: string, language: Language) => Mail): void =>
  afterAnswer(c.executionCtx, "mail of a change to an account", mailToOwner(c, user, write));
