import { type FormProblem, toFormProblem } from "#features/auth/form/form-problem.ts";

/** Problem of a name that cannot be a number, or a handle with its "@". */
export const toNameProblem = (name: string): FormProblem => ({
  field: "phoneNumber",
  text: name.startsWith("@") ? "errors.invalid_handle" : "auth.invalidPhoneNumber",
});

/** Maps a sign-in error to a message and its field (SPEC.md §8). `name`: number, or handle with its "@". */
export const toLoginProblem = (error: unknown, name = ""): FormProblem =>
  toFormProblem(error, {
    captcha_failed: { field: "form", text: "errors.captcha_failed" },
    validation_failed: toNameProblem(name),
    internal: { field: "form", text: "auth.signInFailedMessage" },
    invalid_credentials: { field: "password", text: "errors.invalid_credentials" },
  });
