import { isAcceptablePassword } from "#contract/auth/auth.ts";
import { passwordMaxLength } from "#contract/limits.ts";
import { failureWords, type Words } from "#lib/http/error-text.ts";
import { failureCode } from "#lib/http/http-request.ts";

/** What is wrong with a form, and beside which field that stands; "form" is the whole. */
export type Problem<Field extends string = string> = { field: Field } & Words;

/** Of a new password and the same again, none of them blank. */
export const judgePasswords = (
  password: string,
  confirmPassword: string,
): Problem<"password" | "confirmPassword"> | undefined => {
  if (password !== confirmPassword) return { field: "confirmPassword", text: "auth.passwordsDoNotMatch" };
  if (password.length > passwordMaxLength) return { field: "password", text: "auth.passwordTooLong" };
  if (!isAcceptablePassword(password)) return { field: "password", text: "auth.passwordRequirement" };
  return undefined;
};

/** Of the robot box, which comes last. */
export const judgeRobot = (isNoRobot: boolean): Problem<"robot"> | undefined =>
  isNoRobot ? undefined : { field: "robot", text: "auth.mustCheckRobot" };

type Code = ReturnType<typeof failureCode>;

const everywhere: Partial<Record<Code, Problem>> = {
  offline: { field: "form", text: "auth.offline" },
  captcha_failed: { field: "robot", text: "errors.captcha_failed" },
};

/** What a failure says: with the words of `own` where a form has some. */
export const toProblem = (error: unknown, own: Partial<Record<Code, Problem>> = {}): Problem => {
  const code = failureCode(error);
  return own[code] ?? everywhere[code] ?? { field: "form", ...failureWords(error) };
};
