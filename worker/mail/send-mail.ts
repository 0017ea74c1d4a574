import { storeLocalMail } from "./local-mailbox.ts";
import type { Mail } from "./mail.ts";

/** What the platform says of a mail that it did not take, without whom it was for. */
const readErrorCode = (error: unknown): string =>
  error instanceof Error && "code" in error ? String(error.code) : "without a code";

type MailEnv = Pick<Env, "MAIL" | "MAIL_FROM">;

/** It is the mail that is wrong, or whom it is from or for: another try ends as this one did. */
const isPermanentMailError = (error: unknown): boolean =>
  /^E_(VALIDATION|FIELD|HEADER|CONTENT|SENDER|RECIPIENT)/.test(readErrorCode(error));

// After the answer the platform leaves half a minute for what is still to do.
const retryWaitsMs = [1_000, 5_000];

/**
 * By Cloudflare's Email Service, from `MAIL_FROM`; none while that is empty. Where it fails for the moment it is tried again:
 * nobody is told to ask anew, and a mail that comes twice does no harm. No address gets into a log.
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

/** Sends a mail. A build for this machine keeps it instead (local-mailbox.ts). */
export const sendMail = async (env: MailEnv, mail: Mail): Promise<void> =>
  LOCAL_MAILBOX ? storeLocalMail(mail) : sendByEmailService(env, mail);
