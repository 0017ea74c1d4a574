import { useEffect, useState } from "react";
import { useTranslation } from "react-i18next";
import { ButtonLink } from "#components/controls/button.tsx";
import { TextField } from "#components/controls/text-field.tsx";
import { isBlank } from "#contract/text.ts";
import { EntryForm } from "#features/auth/form/entry-form.tsx";
import { judgePasswords, type Problem, toProblem } from "#features/auth/form/form-problem.ts";
import { NewPasswordFields } from "#features/auth/form/new-password-fields.tsx";
import { textOf, useEntryForm } from "#features/auth/form/use-entry-form.ts";
import { t as now } from "#i18n/setup.ts";
import { ApiFailure } from "#lib/http/http-request.ts";
import { createPasswordChange } from "#lib/session/change-password.ts";
import { leaveNotice } from "#lib/session/flash-message.ts";
import { loadOwnPhone } from "#lib/session/recovery.ts";

const explain = (error: unknown): Problem =>
  toProblem(error, {
    common_password: { field: "password", text: "errors.common_password" },
    weak_password: { field: "password", text: "errors.weak_password" },
    same_password: { field: "password", text: "errors.same_password" },
  });

const isTooLate = (error: unknown): boolean =>
  error instanceof ApiFailure && (error.code === "reauthentication_needed" || error.status === 401);

/** The password that takes the forgotten one's place, twice (SPEC.md §5). */
export function NewPasswordForm() {
  const { t } = useTranslation();
  const [isOver, setOver] = useState(false);
  const [replacePassword] = useState(createPasswordChange);
  const entry = useEntryForm(
    async (data) => {
      const [password, again] = [textOf(data, "password"), textOf(data, "confirmPassword")];
      if (isBlank(password)) return { field: "password", text: "auth.fillAllFields" };
      if (isBlank(again)) return { field: "confirmPassword", text: "auth.fillAllFields" };
      const problem = judgePasswords(password, again);
      if (problem) return problem;
      try {
        await replacePassword(password);
      } catch (error) {
        if (!isTooLate(error)) throw error;
        setOver(true);
        return { field: "form", text: "recover.tooLate" };
      }
      leaveNotice({ message: now("recover.done") });
      location.replace("/app");
      return undefined;
    },
    { explain },
  );
  const { form, errorOf } = entry;
  const [phone, setPhone] = useState("");
  // Nothing is lost where it does not come: the form goes without.
  useEffect(() => {
    void loadOwnPhone().then(setPhone, () => undefined);
  }, []);
  useEffect(() => form.current?.querySelector<HTMLElement>("#password")?.focus(), [form]);
  return (
    <EntryForm
      entry={entry}
      label={t("recover.save")}
      busyLabel={t("recover.saving")}
      instead={isOver && <ButtonLink href="/recover">{t("recover.restart")}</ButtonLink>}
    >
      {/* Whose it is: for the person, whom somebody else's link may have led here, and for what keeps passwords. */}
      <TextField
        id="phoneNumber"
        label={t("auth.phoneNumber")}
        value={phone}
        readOnly
        type="tel"
        autoComplete="username"
        dir="ltr"
      />
      <NewPasswordFields label={t("recover.newPassword")} errorOf={errorOf} />
    </EntryForm>
  );
}
