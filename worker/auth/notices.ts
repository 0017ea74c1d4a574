import { eq } from "drizzle-orm";
import { createUuid, type Uuid } from "../../contract/ids";
import type { Language } from "../../contract/language";
import type { SecurityNotice } from "../../contract/security";
import { account_security } from "../db/account-schema";
import { openDb } from "../db/client";
import { type AppContext, afterAnswer } from "../lib/app";
import { languageOf } from "../lib/language";
import type { Mail } from "../mail/mail";
import { sendMail } from "../mail/sending";
import { withRetry } from "../objects/retry";
import { userChannelOf } from "../objects/stubs";

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
