import type { SignUp } from "#contract/auth/auth.ts";
import { ApiRequestError, sendHttpRequest } from "#lib/http/http-request.ts";
import { signIn, signUp } from "#lib/session/sign-in.ts";

export type NewAccount = { phone: string; password: string; username: string; identity?: SignUp["identity"] };

/**
 * Opens the account, once: when an answer was lost on the way and the second try hears that the number is
 * taken, it may be ours already, which signing in with the same password finds out.
 */
export const createIdempotentSignUp = () => {
  let lost: NewAccount | undefined;
  return async (account: NewAccount, captchaToken: string): Promise<void> => {
    try {
      await signUp({ ...account, captchaToken });
    } catch (error) {
      const isLost = error instanceof ApiRequestError && error.code === "offline";
      const wasLost = lost?.phone === account.phone && lost.password === account.password;
      if (isLost) lost = account;
      if (!wasLost || !(error instanceof ApiRequestError) || error.code !== "phone_exists") throw error;
      await signIn(account.phone, account.password).catch(() => {
        throw error;
      });
    }
  };
};

const uploadTimeoutMs = 90_000;

/** Name and picture of the new account. True when both were taken; the account stands either way (SPEC.md §4). */
export const uploadInitialProfile = async (username: string, avatar: Blob): Promise<boolean> => {
  const steps = await Promise.allSettled([
    sendHttpRequest("PATCH", "/api/profile", { username }),
    sendHttpRequest("PUT", "/api/profile/avatar", avatar, {
      isRawBody: true,
      headers: { "content-type": avatar.type },
      timeoutMs: uploadTimeoutMs,
    }),
  ]);
  return steps.every(({ status }) => status === "fulfilled");
};
