import { storeLocalMail } from "./local-mailbox.ts";
import type { Mail } from "./mail.ts";

/** Error code of the mail service, without the recipient. */
const readErrorCode = (error: unknown): string =>
  error instanceof Error && "code" in error ? String(error.code) : "without a code";

type MailEnv = Pick<Env, "MAIL" | "MAIL_FROM">;

/** Tests whether the mail, its sender or its recipient is invalid, so that a retry would fail too. */
const isPermanentMailError = (error: unknown): boolean =>
  /^E_(VALIDATION|FIELD|HEADER|CONTENT|SENDER|RECIPIENT)/.test(readErrorCode(error));

// The platform allows half a minute of work after the response.
const retryWaitsMs = [1_000, 5_000];

/**
 * Sends a mail by Cloudflare's Email Service from `MAIL_FROM`; does nothing while that is empty. Temporary failures are
 * retried, because nobody asks the user to repeat and a duplicate does no harm. Addresses are not logged.
 */
export const sendByEmailService = async (
  env: MailEnv,
  mail: Mail,
  waitsMs: readonly number[] = retryWaitsMs,
): Promise<void> => {
  const from: string = env.MAIL_FROM;
  if (from === "") return console.warn("a mail was not sent: MAIL_FROM is empty");
  try {
    await env.MAIL.send({ from, ...mail });
  } catch (error) {
    const [waitMs, ...further] = waitsMs;
    if (waitMs === undefined || isPermanentMailError(error))
      return console.error("a mail was not sent", readErrorCode(error));
    await scheduler.wait(waitMs);
    await sendByEmailService(env, mail, further);
  }
};

/** Sends a mail. A local build stores it instead (local-mailbox.ts). */
export const sendMail = async (env: MailEnv, mail: Mail): Promise<void> =>
  LOCAL_MAILBOX ? storeLocalMail(mail) : sendByEmailService(env, mail);
