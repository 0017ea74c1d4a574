import { type ComponentProps, type ReactNode, useEffect, useState } from "react";

type TextFieldProps = {
  /** Also the name under which the form's data holds it. */
  id: string;
  label: string;
  hint?: string;
  error?: string | undefined;
  /** An error leads the focus here: in a dialog, where no toast is heard. */
  focusOnError?: boolean;
  /** Stands inside the outline, after the input: a button of 48 px. */
  trailing?: ReactNode;
} & Omit<ComponentProps<"input">, "id" | "name">;

/**
 * One line to write in, with its label, a hint and, when something is wrong, what. Uncontrolled: what was typed
 * before the script arrived stays.
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

/** Whoever is led to the field hears what is wrong with the field itself; who is there already is told. */
function FocusingFieldError({ id, error }: { id: string; error: string }) {
  const [isHere] = useState(() => document.activeElement?.id === id);
  useEffect(() => document.getElementById(id)?.focus(), [id]);
  return (
    <div role={isHere ? "alert" : undefined}>
      <FieldError id={id} error={error} />
    </div>
  );
}

/** What is wrong with a field, beside it. Not an alert of its own: the toast speaks, this stays. */
export function FieldError({ id, error }: { id: string; error: string | undefined }) {
  if (!error) return null;
  return (
    <p id={`${id}-error`} className="mt-1 flex items-start gap-1 text-sm text-danger">
      <span className="i-ph-warning-circle-fill mt-0.5 text-base" aria-hidden="true" />
      <span>{error}</span>
    </p>
  );
}
