import { type ReactNode, useEffect, useRef, useState } from "react";
import { useTranslation } from "react-i18next";
import { toAsciiDigits } from "#contract/text.ts";
import { toErrorText } from "#lib/http/error-text.ts";
import { toErrorCode } from "#lib/http/http-request.ts";
import { Button } from "./button.tsx";
import { suppressLateTap } from "./late-tap.ts";
import { TextField } from "./text-field.tsx";

const wrongCodeErrors: readonly string[] = ["otp_expired", "mfa_verification_failed", "number_code_wrong"];

/** Problem of the last attempt, translated at render time so that it follows the current language. */
type CodeFormProblem = { error: unknown } | "missing";

type CodeFormProps = {
  id: string;
  label: string;
  hint: string;
  /** Error for an empty field or too few digits. */
  missingMessage: string;
  /** Error for a rejected code, where the server's general error text would not fit. */
  wrongMessage?: string;
  /** Number of digits; the form submits itself when they are complete. Without it the code may contain letters. */
  digits?: number;
  submitLabel?: string;
  /** Rejects with the error to show next to the field. */
  submitCode: (code: string) => Promise<void>;
  /** False if another element of the page gets the focus first. */
  takesFocus?: boolean;
  /** Content above the field. */
  children?: ReactNode;
};

/** Form with one code to type or paste. A rejected code stays in the field, selected for overwriting. */
export function CodeForm({
  id,
  label,
  hint,
  missingMessage,
  wrongMessage,
  digits,
  submitCode,
  takesFocus = true,
  ...props
}: CodeFormProps) {
  const { t } = useTranslation();
  const field = useRef<HTMLInputElement>(null);
  const [typed, setTyped] = useState("");
  const [problem, setProblem] = useState<CodeFormProblem>();
  const [isBusy, setBusy] = useState(false);

  useEffect(() => {
    if (takesFocus) field.current?.focus();
  }, [takesFocus]);
  useEffect(() => {
    if (problem === undefined) return;
    field.current?.focus();
    field.current?.select();
    // The error is below the field and may be outside the viewport.
    field.current?.closest("form")?.scrollIntoView({ block: "nearest" });
  }, [problem]);

  const isWrong = (error: unknown): boolean => wrongCodeErrors.includes(toErrorCode(error));
  const toMessage = (shownProblem: CodeFormProblem): string => {
    if (shownProblem === "missing") return missingMessage;
    return wrongMessage !== undefined && isWrong(shownProblem.error)
      ? wrongMessage
      : toErrorText(shownProblem.error, t);
  };
  const submit = async (code: string, isAutomatic = false): Promise<void> => {
    if (isBusy) return;
    if (code.trim() === "" || code.length < (digits ?? 0)) return setProblem("missing");
    setBusy(true);
    setProblem(undefined);
    const button = field.current?.form?.querySelector("[type=submit]")?.getBoundingClientRect();
    const failure = await submitCode(code).then(
      () => undefined,
      (error: unknown) => ({ error }),
    );
    setBusy(false);
    if (!failure) return isAutomatic ? suppressLateTap(button) : undefined;
    // The code was changed during a slow request: the rejection of the old code does not apply to the new one.
    const next = field.current?.value ?? code;
    if (next === code || !isWrong(failure.error)) setProblem(failure);
    else if (next.length === digits) await submit(next, true);
  };
  const handleInput = (value: string) => {
    const next =
      digits === undefined ? value : toAsciiDigits(value.normalize("NFKC")).replace(/\D/g, "").slice(0, digits);
    setTyped(next);
    setProblem(undefined);
    if (next.length === digits && next !== typed) void submit(next, true);
  };
  return (
    <form
      noValidate
      className="flex flex-col gap-4"
      onSubmit={(event) => {
        event.preventDefault();
        void submit(typed);
      }}
    >
      {props.children}
      <TextField
        id={id}
        ref={field}
        label={label}
        hint={hint}
        error={problem && toMessage(problem)}
        focusOnError
        inputMode={digits === undefined ? "text" : "numeric"}
        autoComplete={digits === undefined ? "off" : "one-time-code"}
        autoCapitalize="none"
        autoCorrect="off"
        spellCheck={false}
        maxLength={64}
        enterKeyHint="go"
        dir="ltr"
        value={typed}
        onChange={({ target }) => handleInput(target.value)}
      />
      <Button type="submit" busy={isBusy} busyLabel={t("auth.secondStep.checking")}>
        {props.submitLabel ?? t("auth.secondStep.go")}
      </Button>
    </form>
  );
}
