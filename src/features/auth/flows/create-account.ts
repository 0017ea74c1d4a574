import type { SignUp } from "#contract/auth/sign-in.ts";
import { ApiRequestError, sendHttpRequest } from "#lib/http/http-request.ts";
import { signIn, signUp } from "#lib/session/sign-in.ts";

export type NewAccount = { phone: string; password: string; username: string; identity?: SignUp["identity"] };

/**
 * Creates a function that signs up and can be retried after a lost response. If a retry with the same phone and
 * password is refused with `phone_exists`, the unanswered request may have created the account. It then signs in with
 * the password; if that fails too, the original error is thrown.
 */
export const createIdempotentSignUp = () => {
  let unanswered: NewAccount | undefined;
  return async (account: NewAccount, captchaToken: string): Promise<void> => {
    try {
      await signUp({ ...account, captchaToken });
    } catch (error) {
      const isUnanswered = error instanceof ApiRequestError && error.code === "offline";
      const wasUnanswered = unanswered?.phone === account.phone && unanswered.password === account.password;
      if (isUnanswered) unanswered = account;
      if (!wasUnanswered || !(error instanceof ApiRequestError) || error.code !== "phone_exists") throw error;
      await signIn(account.phone, account.password).catch(() => {
        throw error;
      });
    }
  };
};

const uploadTimeoutMs = 90_000;

/** Sends name and picture of a new account. True if both were stored; the account exists either way (SPEC.md §4). */
export const uploadInitialProfile = async (username: string, avatar: Blob): Promise<boolean> => {
  const results = await Promise.allSettled([
    sendHttpRequest("PATCH", "/api/profile", { username }),
    sendHttpRequest("PUT", "/api/profile/avatar", avatar, {
      isRawBody: true,
      headers: { "content-type": avatar.type },
      timeoutMs: uploadTimeoutMs,
    }),
  ]);
  return results.every(({ status }) => status === "fulfilled");
};
