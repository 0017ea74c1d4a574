import { type FormProblem, toFormProblem } from "#features/auth/form/form-problem.ts";

/** Maps a sign-in error to a message and the field it belongs to (SPEC.md §8). */
export const toLoginProblem = (error: unknown): FormProblem =>
  toFormProblem(error, {
    captcha_failed: { field: "form", text: "errors.captcha_failed" },
    validation_failed: { field: "phoneNumber", text: "auth.invalidPhoneNumber" },
    internal: { field: "form", text: "auth.signInFailedMessage" },
    invalid_credentials: { field: "password", text: "errors.invalid_credentials" },
  });
