import * as v from "valibot";
import { isAcceptablePassword } from "../../../contract/auth";
import { passwordMaxLength } from "../../../contract/limits";
import { toE164 } from "../../../contract/phone";
import { DisplayName, isBlank } from "../../../contract/text";
import type { Words } from "../../lib/failure-text";

export type Registration = {
  hasAvatar: boolean;
  displayName: string;
  phoneNumber: string;
  password: string;
  confirmPassword: string;
  isNoRobot: boolean;
};
export type RegistrationField = "avatar" | "displayName" | "phoneNumber" | "password" | "confirmPassword" | "robot";
export type Problem<Field extends string = string> = { field: Field } & Words;

const textFields = ["displayName", "phoneNumber", "password", "confirmPassword"] as const;

type NewPassword = Pick<Registration, "password" | "confirmPassword">;

const judgePasswords = ({ password, confirmPassword }: NewPassword): Problem<keyof NewPassword> | undefined => {
  if (password !== confirmPassword) return { field: "confirmPassword", text: "auth.passwordsDoNotMatch" };
  if (password.length > passwordMaxLength) return { field: "password", text: "auth.passwordTooLong" };
  if (!isAcceptablePassword(password)) return { field: "password", text: "auth.passwordRequirement" };
  return undefined;
};

/**
 * The first thing that is wrong, in the order of SPEC.md §5. What the server would refuse besides (a name of
 * hidden characters, a number that is none, an endless password) comes after the stated check of its field.
 */
export const validateRegistration = (form: Registration): Problem<RegistrationField> | undefined => {
  if (!form.hasAvatar) return { field: "avatar", text: "auth.profilePictureRequired" };
  const empty = textFields.find((field) => isBlank(form[field]));
  if (empty) return { field: empty, text: "auth.allFieldsRequired" };
  if (!v.safeParse(DisplayName, form.displayName).success) return { field: "displayName", text: "errors.invalid_name" };
  if (form.phoneNumber.trim().startsWith("+")) return { field: "phoneNumber", text: "auth.invalidPhoneNumberFormat" };
  if (!toE164(form.phoneNumber)) return { field: "phoneNumber", text: "auth.invalidPhoneNumber" };
  const problem = judgePasswords(form);
  if (problem) return problem;
  if (!form.isNoRobot) return { field: "robot", text: "auth.mustCheckRobot" };
  return undefined;
};

/** The same of a password alone. */
export const validateNewPassword = (form: NewPassword): Problem<keyof NewPassword> | undefined => {
  if (isBlank(form.password)) return { field: "password", text: "auth.fillAllFields" };
  if (isBlank(form.confirmPassword)) return { field: "confirmPassword", text: "auth.fillAllFields" };
  return judgePasswords(form);
};

export type LoginField = "phoneNumber" | "password";

/** SPEC.md §5: both are required, nothing else is judged here. */
export const validateLogin = (form: { phoneNumber: string; password: string }): Problem<LoginField> | undefined => {
  if (form.phoneNumber.trim() === "") return { field: "phoneNumber", text: "auth.fillAllFields" };
  if (form.password === "") return { field: "password", text: "auth.fillAllFields" };
  return undefined;
};
