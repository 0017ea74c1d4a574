import { isAcceptablePassword } from "#contract/auth/sign-in.ts";
import { passwordMaxLength } from "#contract/limits/authentication.ts";
import { type LocalizedError, toLocalizedError } from "#lib/http/error-text.ts";
import { toErrorCode } from "#lib/http/http-request.ts";

/** Error message of a form and the field it belongs to; field "form" means the form as a whole. */
export type FormProblem<Field extends string = string> = { field: Field } & LocalizedError;

/** Validates a new password and its repetition, neither of them blank. */
export const validateNewPassword = (
  password: string,
  confirmPassword: string,
): FormProblem<"password" | "confirmPassword"> | undefined => {
  if (password !== confirmPassword) return { field: "confirmPassword", text: "auth.passwordsDoNotMatch" };
  if (password.length > passwordMaxLength) return { field: "password", text: "auth.passwordTooLong" };
  if (!isAcceptablePassword(password)) return { field: "password", text: "auth.passwordRequirement" };
  return undefined;
};

/** Validates the captcha checkbox; called after all other fields. */
export const validateCaptcha = (isNoRobot: boolean): FormProblem<"robot"> | undefined =>
  isNoRobot ? undefined : { field: "robot", text: "auth.mustCheckRobot" };

type ApiFailureCode = ReturnType<typeof toErrorCode>;

const commonProblems: Partial<Record<ApiFailureCode, FormProblem>> = {
  offline: { field: "form", text: "auth.offline" },
  captcha_failed: { field: "robot", text: "errors.captcha_failed" },
};

/** Maps an error to a form problem; `overrides` holds the form's own messages per error code. */
export const toFormProblem = (
  error: unknown,
  overrides: Partial<Record<ApiFailureCode, FormProblem>> = {},
): FormProblem => {
  const code = toErrorCode(error);
  return overrides[code] ?? commonProblems[code] ?? { field: "form", ...toLocalizedError(error) };
};
