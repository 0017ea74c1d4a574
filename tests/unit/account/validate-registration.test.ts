import * as v from "valibot";
import { describe, expect, it } from "vitest";
import { PasswordGrant } from "#contract/auth/sign-in.ts";
import { Phone } from "#contract/phone/phone.ts";
import { toLoginProblem } from "#features/auth/flows/login-problem.ts";
import { toSignInName } from "#features/auth/form/phone-field.tsx";
import { validateLogin } from "#features/auth/form/validate-login.ts";
import { type RegistrationInput, validateRegistration } from "#features/auth/form/validate-registration.ts";
import { ApiRequestError } from "#lib/http/http-request.ts";

const complete: RegistrationInput = {
  hasAvatar: true,
  displayName: "Amina",
  phoneNumber: "243810000001",
  password: "Masolo2026",
  confirmPassword: "Masolo2026",
  isNoRobot: true,
};
const nothing: RegistrationInput = {
  hasAvatar: false,
  displayName: "",
  phoneNumber: "",
  password: "",
  confirmPassword: "",
  isNoRobot: false,
};

describe("a registration", () => {
  it("is accepted if all fields are valid", () => {
    expect(validateRegistration(complete)).toBeUndefined();
  });

  it("reports one failure at a time, in the order of the specification", () => {
    const corrections: [Partial<RegistrationInput>, string, string][] = [
      [{}, "avatar", "auth.profilePictureRequired"],
      [{ hasAvatar: true }, "displayName", "auth.allFieldsRequired"],
      [{ displayName: "Amina" }, "phoneNumber", "auth.allFieldsRequired"],
      [{ phoneNumber: "+243810000001" }, "password", "auth.allFieldsRequired"],
      [{ password: "abc" }, "confirmPassword", "auth.allFieldsRequired"],
      [{ confirmPassword: "abd" }, "phoneNumber", "auth.invalidPhoneNumberFormat"],
      [{ phoneNumber: "243810000001" }, "confirmPassword", "auth.passwordsDoNotMatch"],
      [{ confirmPassword: "abc" }, "password", "auth.passwordRequirement"],
      [{ password: "Masolo2026", confirmPassword: "Masolo2026" }, "robot", "auth.mustCheckRobot"],
    ];
    let form = nothing;
    for (const [correction, field, text] of corrections) {
      form = { ...form, ...correction };
      expect(validateRegistration(form)).toEqual({ field, text });
    }
    expect(validateRegistration({ ...form, isNoRobot: true })).toBeUndefined();
  });

  it.each([
    ["five characters", "Ab3de"],
    ["no capital", "masolo2026"],
    ["no digit", "MasoloMasolo"],
  ])("is refused for a password with %s", (_, password) => {
    expect(validateRegistration({ ...complete, password, confirmPassword: password })).toEqual({
      field: "password",
      text: "auth.passwordRequirement",
    });
  });

  it("is refused for a name of blanks or invisible characters", () => {
    expect(validateRegistration({ ...complete, displayName: "   " })?.text).toBe("auth.allFieldsRequired");
    expect(validateRegistration({ ...complete, displayName: "Ami\u202ena" })).toEqual({
      field: "displayName",
      text: "errors.invalid_name",
    });
  });

  it("is refused for an invalid phone number, and accepts common ways to write a valid one", () => {
    expect(validateRegistration({ ...complete, phoneNumber: "my number" })).toEqual({
      field: "phoneNumber",
      text: "auth.invalidPhoneNumber",
    });
    expect(validateRegistration({ ...complete, phoneNumber: " +243 81 000 00 01" })?.text).toBe(
      "auth.invalidPhoneNumberFormat",
    );
    expect(validateRegistration({ ...complete, phoneNumber: "243 81 000 00 01" })).toBeUndefined();
  });

  it("accepts a number pasted with direction marks or in other digits, and names a plus sign behind a mark", () => {
    for (const phoneNumber of ["\u202a243 81 000 00 01\u202c", "tel:243810000001", "٢٤٣٨١٠٠٠٠٠٠١", "۲۴۳۸۱۰۰۰۰۰۰۱"])
      expect(validateRegistration({ ...complete, phoneNumber })).toBeUndefined();
    expect(validateRegistration({ ...complete, phoneNumber: "\u2068+243810000001\u2069" })?.text).toBe(
      "auth.invalidPhoneNumberFormat",
    );
  });

  it("is refused for a password over the maximum length, with its own message", () => {
    const password = `A1${"x".repeat(127)}`;
    expect(validateRegistration({ ...complete, password, confirmPassword: password })?.text).toBe(
      "auth.passwordTooLong",
    );
  });
});

describe("a login", () => {
  it("takes a pasted number for a number, and other text for a handle", () => {
    expect(toSignInName(" tel:+243810000001")).toBe("tel:+243810000001");
    expect(v.parse(PasswordGrant, { phone: "tel:+243810000001", password: "x" }).phone).toBe("+243810000001");
    expect(v.parse(PasswordGrant, { phone: "\u202a+٢٤٣ ٨١ ٠٠٠ ٠٠ ٠١\u202c", password: "x" }).phone).toBe(
      "+243810000001",
    );
    expect(toSignInName("ana.mbala ")).toBe("@ana.mbala");
  });

  it("requires a phone number and a password, and validates nothing else", () => {
    expect(validateLogin({ phoneNumber: " ", password: "x" })).toEqual({
      field: "phoneNumber",
      text: "auth.fillAllFields",
    });
    expect(validateLogin({ phoneNumber: "+243", password: "" })).toEqual({
      field: "password",
      text: "auth.fillAllFields",
    });
    expect(validateLogin({ phoneNumber: "+243", password: "x" })).toBeUndefined();
  });

  it("with a number that is too short shows the error at the field, not in general", () => {
    const refused = new ApiRequestError("validation_failed", 400);
    expect(toLoginProblem(refused)).toEqual({ field: "phoneNumber", text: "auth.invalidPhoneNumber" });
    expect(toLoginProblem(refused, "@ana..m")).toEqual({ field: "phoneNumber", text: "errors.invalid_handle" });
    expect(v.safeParse(Phone, "24381").success).toBe(false); // the server's refusal of such a number
  });
});
