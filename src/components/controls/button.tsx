import type { ComponentProps, ReactNode } from "react";
import { Spinner } from "./spinner.tsx";

const variantClasses = {
  primary: "bg-accent text-on-accent hover:bg-accent-hover",
  secondary: "border border-field bg-surface text-text hover:bg-raised",
  danger: "bg-danger text-on-accent hover:opacity-90",
  quiet: "text-accent hover:bg-raised",
} as const;
export type ButtonVariant = keyof typeof variantClasses;

const baseClasses =
  "relative inline-flex min-h-12 min-w-min max-w-full items-center justify-center gap-2 rounded-card px-6 py-2 text-center font-semibold transition-colors disabled:opacity-50";

type ButtonProps = {
  variant?: ButtonVariant;
  /** Under way: keeps its place and the focus, turns a spinner and does nothing when pressed. */
  busy?: boolean;
  /** What it says meanwhile. */
  busyLabel?: ReactNode;
} & ComponentProps<"button">;

/** A button with words; the full width of where it stands when `className` says so. */
export function Button({
  variant = "primary",
  busy = false,
  busyLabel,
  className = "",
  children,
  ...props
}: ButtonProps) {
  return (
    <button
      type="button"
      {...props}
      className={`busy-button ${baseClasses} ${variantClasses[variant]} ${className}`}
      aria-busy={busy || undefined}
      aria-disabled={busy || undefined}
      onClick={busy ? (event) => event.preventDefault() : props.onClick}
    >
      <Spinner className="text-xl" />
      {/* No word is broken while there is another line for the button. */}
      <span className="min-w-0 break-words">{busy ? (busyLabel ?? children) : children}</span>
    </button>
  );
}

/** The same shape for going to another document. */
export function ButtonLink({
  variant = "primary",
  className = "",
  ...props
}: { variant?: ButtonVariant } & ComponentProps<"a">) {
  return <a {...props} className={`${baseClasses} ${variantClasses[variant]} ${className}`} />;
}
