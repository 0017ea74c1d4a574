import { isAcceptablePassword } from "#contract/auth/auth.ts";
import { passwordMaxLength } from "#contract/limits.ts";
import { type LocalizedError, toLocalizedError } from "#lib/http/error-text.ts";
import { toErrorCode } from "#lib/http/http-request.ts";

/** What is wrong with a form, and beside which field that stands; "form" is the whole. */
export type FormProblem<Field extends string = string> = { field: Field } & LocalizedError;

/** Of a new password and the same again, none of them blank. */
export const validateNewPassword = (
  password: string,
  confirmPassword: string,
): FormProblem<"password" | "confirmPassword"> | undefined => {
  if (password !== confirmPassword) return { field: "confirmPassword", text: "auth.passwordsDoNotMatch" };
  if (password.length > passwordMaxLength) return { field: "password", text: "auth.passwordTooLong" };
  if (!isAcceptablePassword(password)) return { field: "password", text: "auth.passwordRequirement" };
  return undefined;
};

/** Of the robot box, which comes last. */
export const validateCaptcha = (isNoRobot: boolean): FormProblem<"robot"> | undefined =>
  isNoRobot ? undefined : { field: "robot", text: "auth.mustCheckRobot" };

type ApiFailureCode = ReturnType<typeof toErrorCode>;

const commonProblems: Partial<Record<ApiFailureCode, FormProblem>> = {
  offline: { field: "form", text: "auth.offline" },
  captcha_failed: { field: "robot", text: "errors.captcha_failed" },
};

/** What a failure says: with the words of `own` where a form has some. */
export const toFormProblem = (error: unknown, own: Partial<Record<ApiFailureCode, FormProblem>> = {}): FormProblem => {
  const code = toErrorCode(error);
  return own[code] ?? commonProblems[code] ?? { field: "form", ...toLocalizedError(error) };
};
