import { keepMail } from "./local-mailbox";
import type { Mail } from "./mail";

/** What the platform says of a mail that it did not take, without whom it was for. */
const codeOf = (error: unknown): string =>
  error instanceof Error && "code" in error ? String(error.code) : "without a code";

type Post = Pick<Env, "MAIL" | "MAIL_FROM">;

/** By Cloudflare's Email Service, from `MAIL_FROM`; none while that is empty. No address gets into a log. */
export const sendByPlatform = async (env: Post, mail: Mail): Promise<void> => {
  const from: string = env.MAIL_FROM;
  if (from === "") return console.warn("a mail was not sent: MAIL_FROM is empty");
  try {
    await env.MAIL.send({ from, ...mail });
  } catch (error) {
    console.error("a mail was not sent", codeOf(error));
  }
};

/** Sends a mail. A build for this machine keeps it instead (local-mailbox.ts). */
export const sendMail = async (env: Post, mail: Mail): Promise<void> =>
  LOCAL_MAILBOX ? keepMail(mail) : sendByPlatform(env, mail);
