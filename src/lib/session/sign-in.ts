import type { PasswordGrant, SignUp } from "#contract/auth/auth.ts";
import { exchange, failureCode } from "#lib/http/http-request.ts";
import { endPendingSignOut, findPendingSignOut, forgetPendingSignOut } from "./pending-sign-out.ts";
import { getSession, type KnownSession, keepSession, type Opened } from "./session.ts";
import { inOneTab } from "./session-refresh.ts";

// Each throws `ApiFailure`; `phone` is as typed, the server normalises it.

/** Where a factor is shown in the session there is. */
const showing = /^\/api\/auth\/(proof|factors\/[^/]+\/verify|recovery-codes\/verify|passkeys\/step)$/;

const eventAt = (path: string): KnownSession["event"] => {
  if (!showing.test(path)) return "SIGNED_IN";
  return getSession() ? "TOKEN_REFRESHED" : "MFA_CHALLENGE_VERIFIED";
};

/**
 * Ends the sessions of an offline sign-out that the server has not heard of yet: the other sessions of the same person if
 * they signed out everywhere; none of another person.
 */
const settlePendingSignOut = async ({ userId, awaits }: Opened): Promise<void> => {
  const pending = findPendingSignOut();
  if (!pending) return;
  forgetPendingSignOut();
  if (awaits || pending.scope === "local" || pending.userId !== userId) return;
  await exchange("POST", "/api/auth/logout?scope=others").catch(() => undefined);
};

/**
 * Opens a session, or shows one more factor in the one there is: each answers a session of the API. No tab renews meanwhile,
 * for what comes back takes the place of what there was.
 */
export const openSession = (path: string, body: unknown): Promise<Opened> =>
  inOneTab(async () => {
    if (!showing.test(path)) await endPendingSignOut();
    const opened = keepSession(await exchange("POST", path, body), eventAt(path));
    await settlePendingSignOut(opened);
    return opened;
  });

const openByPassword = (phone: string, password: string, captcha_token?: string): Promise<Opened> =>
  openSession("/api/auth/token?grant_type=password", {
    phone,
    password,
    ...(captcha_token === undefined ? {} : { gotrue_meta_security: { captcha_token } }),
  } satisfies PasswordGrant);

/** Where others of the same network failed a lot, the server asks for a proof of work, and gets it without a word. */
export const signIn = async (phone: string, password: string): Promise<Opened> => {
  try {
    return await openByPassword(phone, password);
  } catch (error) {
    if (failureCode(error) !== "captcha_failed") throw error;
    const { proveNoRobot } = await import("./proof-of-work.ts");
    const { token } = await proveNoRobot({ action: "sign_in", subject: phone }, new AbortController().signal);
    return openByPassword(phone, password, token);
  }
};

export const signUp = (account: {
  phone: string;
  password: string;
  username: string;
  /** The solved proof of work. */
  captchaToken: string;
  /** What came back from a provider that knows them (`Newcomer`). */
  identity?: SignUp["identity"];
}): Promise<Opened> =>
  openSession("/api/auth/signup", {
    phone: account.phone,
    password: account.password,
    data: { username: account.username },
    identity: account.identity,
    gotrue_meta_security: { captcha_token: account.captchaToken },
  });
