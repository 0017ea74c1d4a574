import type { PasswordGrant, SignUp } from "#contract/auth/sign-in.ts";
import { sendHttpRequest, toErrorCode } from "#lib/http/http-request.ts";
import { clearPendingSignOut, completePendingSignOut, findPendingSignOut } from "./pending-sign-out.ts";
import { type ClientSession, getSession, type OpenedSession, saveSession } from "./session.ts";
import { withSessionLock } from "./session-refresh.ts";

// Each function throws `ApiRequestError`; `phone` is as typed, the server normalises it.

/** Paths that verify a factor in the current session. */
const verificationPaths = /^\/api\/auth\/(proof|factors\/[^/]+\/verify|recovery-codes\/verify|passkeys\/step)$/;

const toSessionEvent = (path: string): ClientSession["event"] => {
  if (!verificationPaths.test(path)) return "SIGNED_IN";
  return getSession() ? "TOKEN_REFRESHED" : "MFA_CHALLENGE_VERIFIED";
};

/**
 * Ends the sessions of an offline sign-out that the server does not know about yet: the other sessions of the same
 * person after a global sign-out, none of another person.
 */
const resolvePendingSignOut = async ({ userId, awaits }: OpenedSession): Promise<void> => {
  const pending = findPendingSignOut();
  if (!pending) return;
  clearPendingSignOut();
  if (awaits || pending.scope === "local" || pending.userId !== userId) return;
  await sendHttpRequest("POST", "/api/auth/logout?scope=others").catch(() => undefined);
};

/**
 * Opens a session, or verifies a factor in the current one: both return a session of the API. No tab renews at the same
 * time, because the result replaces the current session.
 */
export const openSession = (path: string, body: unknown): Promise<OpenedSession> =>
  withSessionLock(async () => {
    if (!verificationPaths.test(path)) await completePendingSignOut();
    const opened = saveSession(await sendHttpRequest("POST", path, body), toSessionEvent(path));
    await resolvePendingSignOut(opened);
    return opened;
  });

const signInByPassword = (phone: string, password: string, captcha_token?: string): Promise<OpenedSession> =>
  openSession("/api/auth/token?grant_type=password", {
    phone,
    password,
    ...(captcha_token === undefined ? {} : { gotrue_meta_security: { captcha_token } }),
  } satisfies PasswordGrant);

/**
 * Signs in with a password. After many failures from the same network the server requires a proof of work, which is
 * computed without asking the person.
 */
export const signIn = async (phone: string, password: string): Promise<OpenedSession> => {
  try {
    return await signInByPassword(phone, password);
  } catch (error) {
    if (toErrorCode(error) !== "captcha_failed") throw error;
    const { solveProofOfWork } = await import("./proof-of-work.ts");
    const { token } = await solveProofOfWork({ action: "sign_in", subject: phone }, new AbortController().signal);
    return signInByPassword(phone, password, token);
  }
};

export const signUp = (account: {
  phone: string;
  password: string;
  username: string;
  /** Solved proof of work. */
  captchaToken: string;
  /** Identity from a provider (`PendingRegistration`). */
  identity?: SignUp["identity"];
}): Promise<OpenedSession> =>
  openSession("/api/auth/signup", {
    phone: account.phone,
    password: account.password,
    data: { username: account.username },
    identity: account.identity,
    gotrue_meta_security: { captcha_token: account.captchaToken },
  });
