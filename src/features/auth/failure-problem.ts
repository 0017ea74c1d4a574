import { ApiFailure } from "../../lib/exchange";
import { failureWords } from "../../lib/failure-text";
import { PasskeyFailure, passkeyTexts } from "../../lib/passkey-failure";
import type { Problem } from "./validate-registration";

/** What a refused sign-up says, and beside which field. */
export const toRegistrationProblem = (error: unknown): Problem => {
  if (!(error instanceof ApiFailure)) return { field: "form", text: "errors.internal" };
  switch (error.code) {
    case "offline":
      return { field: "form", text: "auth.offline" };
    case "phone_exists":
      return { field: "phoneNumber", text: "auth.phoneAlreadyRegistered" };
    case "weak_password":
      return { field: "password", text: "auth.passwordRequirement" };
    case "invalid_name":
      return { field: "displayName", text: "errors.invalid_name" };
    case "captcha_failed":
      return { field: "robot", text: "errors.captcha_failed" };
    case "flow_state_not_found":
      return { field: "form", text: "auth.newcomerExpired" };
    case "unavailable":
      // An answer without a user in it (SPEC.md §8).
      return { field: "form", text: error.status === 200 ? "auth.userNotCreated" : "errors.unavailable" };
    default:
      return { field: "form", ...failureWords(error) };
  }
};

/** What came back from a provider is worth nothing any more: the account can be made without. */
export const isNewcomerRefusal = (error: unknown): boolean =>
  error instanceof ApiFailure &&
  ["flow_state_not_found", "bad_code_verifier", "identity_already_exists"].includes(error.code);

/** What a refused sign-in says (SPEC.md §8). */
export const toLoginProblem = (error: unknown): Problem => {
  if (!(error instanceof ApiFailure) || error.code === "internal") {
    return { field: "form", text: "auth.signInFailedMessage" };
  }
  if (error.code === "offline") return { field: "form", text: "auth.offline" };
  if (error.code === "invalid_credentials") return { field: "password", text: "errors.invalid_credentials" };
  return { field: "form", ...failureWords(error) };
};

/** What a passkey that signed nobody in says. */
export const toPasskeyProblem = (error: unknown): Problem =>
  error instanceof PasskeyFailure ? { field: "form", text: passkeyTexts[error.problem] } : toLoginProblem(error);
