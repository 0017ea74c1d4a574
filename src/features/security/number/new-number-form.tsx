import { useState } from "react";
import { useTranslation } from "react-i18next";
import { Button } from "#components/controls/button.tsx";
import { TextField } from "#components/controls/text-field.tsx";
import { focusOnMount } from "#components/focus/focus-on-mount.ts";
import type { NewNumberMethods } from "#contract/auth/number.ts";
import { toErrorText } from "#lib/http/error-text.ts";
import { toErrorCode } from "#lib/http/http-request.ts";
import { fetchMethods } from "./number-api.ts";
import { NumberCard } from "./number-card.tsx";

const fieldId = "newNumber";

type NewNumberFormProps = {
  /** Number to correct. */
  typed: string;
  /** Whether the form replaces what had the focus. */
  takesFocus: boolean;
  onChosen: (target: NewNumberMethods) => void;
};

/** Asks for the number that is to replace the present one. The typed text stays after a failure. */
export function NewNumberForm({ typed: initial, takesFocus, onChosen }: NewNumberFormProps) {
  const { t } = useTranslation();
  const [problem, setProblem] = useState<string>();
  const [isBusy, setBusy] = useState(false);
  const submit = async (typed: string) => {
    setBusy(true);
    setProblem(undefined);
    try {
      const target = await fetchMethods(typed);
      if (target.methods.length > 0) return onChosen(target);
      setProblem(t("number.noMethods"));
    } catch (error) {
      setProblem(toErrorCode(error) === "invalid_input" ? t("number.newMissing") : toErrorText(error, t));
    }
    setBusy(false);
  };
  return (
    <NumberCard>
      <form
        noValidate
        className="flex flex-col gap-4 p-4"
        onSubmit={(event) => {
          event.preventDefault();
          if (!isBusy) void submit(String(new FormData(event.currentTarget).get(fieldId) ?? ""));
        }}
      >
        <p>{t("number.changeBody")}</p>
        <TextField
          id={fieldId}
          ref={takesFocus ? focusOnMount : undefined}
          defaultValue={initial}
          label={t("number.new")}
          error={problem}
          focusOnError
          type="tel"
          inputMode="tel"
          autoComplete="tel"
          placeholder="243810000000"
          maxLength={40}
          enterKeyHint="next"
        />
        <Button type="submit" busy={isBusy}>
          {t("number.continue")}
        </Button>
      </form>
    </NumberCard>
  );
}
