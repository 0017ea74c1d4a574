import type { FormProblem } from "./form-problem.ts";

export type LoginField = "phoneNumber" | "password";

/** SPEC.md §5: both are required, nothing else is judged here. */
export const validateLogin = (form: { phoneNumber: string; password: string }): FormProblem<LoginField> | undefined => {
  if (form.phoneNumber.trim() === "") return { field: "phoneNumber", text: "auth.fillAllFields" };
  if (form.password === "") return { field: "password", text: "auth.fillAllFields" };
  return undefined;
};
