import type { SignUp } from "#contract/auth/auth.ts";
import { ApiFailure, exchange } from "#lib/http/http-request.ts";
import { signIn, signUp } from "#lib/session/sign-in.ts";

export type Account = { phone: string; password: string; username: string; identity?: SignUp["identity"] };

/**
 * Opens the account, once: when an answer was lost on the way and the second try hears that the number is
 * taken, it may be ours already, which signing in with the same password finds out.
 */
export const createAccountOpener = () => {
  let lost: Account | undefined;
  return async (account: Account, captchaToken: string): Promise<void> => {
    try {
      await signUp({ ...account, captchaToken });
    } catch (error) {
      const isLost = error instanceof ApiFailure && error.code === "offline";
      const wasLost = lost?.phone === account.phone && lost.password === account.password;
      if (isLost) lost = account;
      if (!wasLost || !(error instanceof ApiFailure) || error.code !== "phone_exists") throw error;
      await signIn(account.phone, account.password).catch(() => {
        throw error;
      });
    }
  };
};

const uploadTimeoutMs = 90_000;

/** Name and picture of the new account. True when both were taken; the account stands either way (SPEC.md §4). */
export const setUpProfile = async (username: string, avatar: Blob): Promise<boolean> => {
  const steps = await Promise.allSettled([
    exchange("PATCH", "/api/profile", { username }),
    exchange("PUT", "/api/profile/avatar", avatar, {
      raw: true,
      headers: { "content-type": avatar.type },
      timeoutMs: uploadTimeoutMs,
    }),
  ]);
  return steps.every(({ status }) => status === "fulfilled");
};
