import { type ComponentProps, type ReactNode, useEffect, useState } from "react";

type TextFieldProps = {
  /** Also the field's name in the form data. */
  id: string;
  label: string;
  hint?: string;
  error?: string | undefined;
  /** Moves the focus to the field when an error appears. */
  focusOnError?: boolean;
  /** Content inside the outline after the input: a 48 px button. */
  trailing?: ReactNode;
} & Omit<ComponentProps<"input">, "id" | "name">;

/**
 * Single-line text field with a label, a hint and an error. Uncontrolled, so text typed before the script loads is
 * preserved.
 */
export function TextField({
  id,
  label,
  hint,
  error,
  focusOnError,
  trailing,
  className = "",
  ...props
}: TextFieldProps) {
  const describedBy = [error && `${id}-error`, hint && `${id}-hint`].filter(Boolean).join(" ");
  return (
    <div className={className}>
      <label htmlFor={id} className="mb-1 block text-sm font-semibold">
        {label}
      </label>
      <div
        className={`field flex min-h-12 items-stretch rounded-card border ${props.readOnly ? "bg-raised text-muted" : "bg-surface"} ${error ? "border-danger" : "border-field"}`}
      >
        <input
          {...props}
          id={id}
          name={id}
          aria-invalid={error ? true : undefined}
          aria-describedby={describedBy || undefined}
          className="min-w-0 flex-1 rounded-card bg-transparent px-4 py-2 outline-none"
        />
        {trailing}
      </div>
      {hint && (
        <p id={`${id}-hint`} className="mt-1 text-sm text-muted">
          {hint}
        </p>
      )}
      <FieldError id={id} error={error} takesFocus={focusOnError} />
    </div>
  );
}

type FieldErrorProps = {
  /** Of the field. */
  id: string;
  error: string | undefined;
  /** Moves the focus to the field. */
  takesFocus?: boolean | undefined;
};

/**
 * Error of a field. A screen reader reads it as the field's description when the focus moves there; if the field has the
 * focus already, the error is announced as an alert.
 */
export function FieldError({ id, error, takesFocus }: FieldErrorProps) {
  return error && <FieldErrorText key={error} id={id} error={error} takesFocus={takesFocus} />;
}

function FieldErrorText({ id, error, takesFocus }: FieldErrorProps) {
  const [isHere] = useState(() => document.activeElement?.id === id);
  useEffect(() => {
    if (takesFocus) document.getElementById(id)?.focus();
  }, [id, takesFocus]);
  return (
    <div role={isHere ? "alert" : undefined}>
      <p id={`${id}-error`} className="mt-1 flex items-start gap-1 text-sm text-danger">
        <span className="i-ph-warning-circle-fill mt-0.5 text-base" aria-hidden="true" />
        <span>{error}</span>
      </p>
    </div>
  );
}
