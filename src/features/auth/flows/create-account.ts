import type { SignUp } from "#contract/auth/sign-in.ts";
import { ApiRequestError, sendHttpRequest, toErrorCode } from "#lib/http/http-request.ts";
import { signIn, signUp } from "#lib/session/sign-in.ts";

/** Signs in. Returns false if there is no such account with this password. */
const signInIfPossible = async (phone: string, password: string): Promise<boolean> => {
  try {
    await signIn(phone, password);
    return true;
  } catch (error) {
    if (toErrorCode(error) === "invalid_credentials") return false;
    throw error;
  }
};

export type NewAccount = { phone: string; password: string; username: string; identity?: SignUp["identity"] };

/**
 * Creates a function that signs up and can be retried after a lost response. A retry with the same phone and password
 * signs in first: the unanswered request may have created the account, and a second one may be possible.
 */
export const createIdempotentSignUp = () => {
  let unanswered: NewAccount | undefined;
  return async (account: NewAccount, captchaToken: string): Promise<void> => {
    const { phone, password } = account;
    try {
      const wasUnanswered = unanswered?.phone === phone && unanswered.password === password;
      if (wasUnanswered && (await signInIfPossible(phone, password))) return;
      await signUp({ ...account, captchaToken });
    } catch (error) {
      if (error instanceof ApiRequestError && error.code === "offline") unanswered = account;
      throw error;
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
