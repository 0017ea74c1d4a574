import * as v from "valibot";
import { nameProblem, TypedDisplayName } from "#contract/names/display-names.ts";
import { toE164 } from "#contract/phone/phone.ts";
import { cleanPhone } from "#contract/phone/phone-text.ts";
import { isBlank } from "#contract/text.ts";
import { type FormProblem, validateCaptcha, validateNewPassword } from "./form-problem.ts";

export type RegistrationInput = {
  hasAvatar: boolean;
  displayName: string;
  phoneNumber: string;
  password: string;
  confirmPassword: string;
  isNoRobot: boolean;
};
export type RegistrationField = "avatar" | "displayName" | "phoneNumber" | "password" | "confirmPassword" | "robot";

const requiredTextFields = ["displayName", "phoneNumber", "password", "confirmPassword"] as const;

/**
 * Returns the first problem in the order of SPEC.md §5. Other reasons for a server refusal (a name of invisible
 * characters, an invalid phone number, an overlong password) are checked after the specified check of their field.
 */
export const validateRegistration = (form: RegistrationInput): FormProblem<RegistrationField> | undefined => {
  if (!form.hasAvatar) return { field: "avatar", text: "auth.profilePictureRequired" };
  const empty = requiredTextFields.find((field) => isBlank(form[field]));
  if (empty) return { field: empty, text: "auth.allFieldsRequired" };
  const name = v.safeParse(TypedDisplayName, form.displayName);
  if (!name.success) return { field: "displayName", text: `errors.${nameProblem(name.issues)}` };
  if (cleanPhone(form.phoneNumber).startsWith("+"))
    return { field: "phoneNumber", text: "auth.invalidPhoneNumberFormat" };
  if (!toE164(form.phoneNumber)) return { field: "phoneNumber", text: "auth.invalidPhoneNumber" };
  return validateNewPassword(form.password, form.confirmPassword) ?? validateCaptcha(form.isNoRobot);
};
