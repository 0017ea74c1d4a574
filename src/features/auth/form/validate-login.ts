import type { FormProblem } from "./form-problem.ts";

export type LoginField = "phoneNumber" | "password";

/** Validates the sign-in form: both fields are required, nothing else is checked here (SPEC.md §5). */
export const validateLogin = (form: { phoneNumber: string; password: string }): FormProblem<LoginField> | undefined => {
  if (form.phoneNumber.trim() === "") return { field: "phoneNumber", text: "auth.fillAllFields" };
  if (form.password === "") return { field: "password", text: "auth.fillAllFields" };
  return undefined;
};
