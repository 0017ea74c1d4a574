import { type ComponentProps, type ReactNode, useEffect, useState } from "react";

type TextFieldProps = {
  /** Also the field's name in the form data. */
  id: string;
  label: string;
  hint?: string;
  error?: string | undefined;
  /** Moves the focus to the field when an error appears: for dialogs, where toasts are not announced. */
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
      {focusOnError && error ? (
        <FocusingFieldError key={error} id={id} error={error} />
      ) : (
        <FieldError id={id} error={error} />
      )}
    </div>
  );
}

/**
 * Moves the focus to the field, whose description contains the error. If the field already has the focus, the error is
 * announced as an alert.
 */
function FocusingFieldError({ id, error }: { id: string; error: string }) {
  const [isHere] = useState(() => document.activeElement?.id === id);
  useEffect(() => document.getElementById(id)?.focus(), [id]);
  return (
    <div role={isHere ? "alert" : undefined}>
      <FieldError id={id} error={error} />
    </div>
  );
}

/** Error of a field. Not an alert by itself: the toast is announced, this text stays. */
export function FieldError({ id, error }: { id: string; error: string | undefined }) {
  if (!error) return null;
  return (
    <p id={`${id}-error`} className="mt-1 flex items-start gap-1 text-sm text-danger">
      <span className="i-ph-warning-circle-fill mt-0.5 text-base" aria-hidden="true" />
      <span>{error}</span>
    </p>
  );
}
