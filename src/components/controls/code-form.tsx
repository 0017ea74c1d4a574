import { type ReactNode, useEffect, useRef, useState } from "react";
import { useTranslation } from "react-i18next";
import { toErrorText } from "#lib/http/error-text.ts";
import { toErrorCode } from "#lib/http/http-request.ts";
import { Button } from "./button.tsx";
import { suppressLateTap } from "./late-tap.ts";
import { TextField } from "./text-field.tsx";

const wrongCodeErrors: readonly string[] = ["otp_expired", "mfa_verification_failed"];

/** What went wrong, said in whichever language is read by then. */
type CodeFormProblem = { error: unknown } | "missing";

type CodeFormProps = {
  id: string;
  label: string;
  hint: string;
  /** What an empty field is told, and one with fewer than its digits. */
  missingMessage: string;
  /** What a code that is not taken is told, where the refusal's own words fit another kind of code. */
  wrongMessage?: string;
  /** How many digits it has: it is sent by itself once they are there. Letters may stand in a code without. */
  digits?: number;
  submitLabel?: string;
  /** Rejects with what is then said beside the field. */
  submitCode: (code: string) => Promise<void>;
  /** False where something else on the page has the focus first. */
  takesFocus?: boolean;
  /** Above the field. */
  children?: ReactNode;
};

/** One code to type or to paste; what the server refuses stays in the field, marked to be typed over. */
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
    // What is wrong stands below the field, and may be out of sight.
    field.current?.closest("form")?.scrollIntoView({ block: "nearest" });
  }, [problem]);

  const isWrong = (error: unknown): boolean => wrongCodeErrors.includes(toErrorCode(error));
  const say = (told: CodeFormProblem): string => {
    if (told === "missing") return missingMessage;
    return wrongMessage !== undefined && isWrong(told.error) ? wrongMessage : toErrorText(told.error, t);
  };
  const submit = async (code: string, isBySelf = false): Promise<void> => {
    if (isBusy) return;
    if (code.trim() === "" || code.length < (digits ?? 0)) return setProblem("missing");
    setBusy(true);
    setProblem(undefined);
    const button = field.current?.form?.querySelector("[type=submit]")?.getBoundingClientRect();
    const failed = await submitCode(code).then(
      () => undefined,
      (error: unknown) => ({ error }),
    );
    setBusy(false);
    if (!failed) return isBySelf ? suppressLateTap(button) : undefined;
    // Typed over on a slow network: that the one before was wrong says nothing of what is there now.
    const next = field.current?.value ?? code;
    if (next === code || !isWrong(failed.error)) setProblem(failed);
    else if (next.length === digits) await submit(next, true);
  };
  const type = (value: string) => {
    const next = digits === undefined ? value : value.replace(/\D/g, "").slice(0, digits);
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
        error={problem && say(problem)}
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
        onChange={({ target }) => type(target.value)}
      />
      <Button type="submit" busy={isBusy} busyLabel={t("auth.secondStep.checking")}>
        {props.submitLabel ?? t("auth.secondStep.go")}
      </Button>
    </form>
  );
}
