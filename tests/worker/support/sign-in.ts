import { type Answer, makeCaptchaToken } from "#tests/support/people/people.ts";
import { call, site } from "./site.ts";

/** Signs in with a password and, if given, a proof of work. */
export const signInByPassword = (
  phone: string,
  password: string,
  headers: Record<string, string> = {},
  captcha_token?: string,
): Promise<Answer> =>
  call("POST", "/api/auth/token?grant_type=password", {
    headers,
    body: { phone, password, ...(captcha_token && { gotrue_meta_security: { captcha_token } }) },
  });

/** Token of a solved proof of work for a sign-in to this number. */
export const makeSignInProof = (phone: string, headers: Record<string, string> = {}): Promise<string> =>
  makeCaptchaToken(site, { action: "sign_in", subject: phone }, headers);

/** Answer to an attempt, and whether it needed a proof of work. */
export type ProvedAttempt = { answer: Answer; isProved: boolean };

/** Signs in as the client does: at first without a proof of work, then with one if the server requires it. */
export const signInWithProof = async (
  phone: string,
  password: string,
  headers: Record<string, string> = {},
): Promise<ProvedAttempt> => {
  const answer = await signInByPassword(phone, password, headers);
  const { error_code } = answer.body as { error_code?: string };
  if (error_code !== "captcha_failed") return { answer, isProved: false };
  const captcha_token = await makeSignInProof(phone, headers);
  return { answer: await signInByPassword(phone, password, headers, captcha_token), isProved: true };
};

/** Outcomes of six wrong passwords for one number from one address, whichever number it is. */
export const sixWrongPasswords = [
  ...Array.from({ length: 3 }, () => ({ error_code: "invalid_credentials", status: 400, isProved: false })),
  ...Array.from({ length: 2 }, () => ({ error_code: "invalid_credentials", status: 400, isProved: true })),
  { error_code: "rate_limited", status: 429, isProved: true },
];

/** Outcome of an attempt in the form of `sixWrongPasswords`. */
export const toOutcome = ({ answer, isProved }: ProvedAttempt) => ({
  error_code: (answer.body as { error_code?: string }).error_code,
  status: answer.status,
  isProved,
});
