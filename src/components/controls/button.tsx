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
  "relative inline-flex min-h-12 min-w-min max-w-full items-center justify-center gap-2 rounded-card px-6 max-[359px]:px-3 py-2 text-center font-semibold transition-colors disabled:opacity-50";

type ButtonProps = {
  variant?: ButtonVariant;
  /** Pending state: the button keeps its size and the focus, shows a spinner and ignores presses. */
  busy?: boolean;
  /** Label while busy. */
  busyLabel?: ReactNode;
} & ComponentProps<"button">;

/** Text button; `className` can make it fill its parent's width. */
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
      {/* Words wrap to another line instead of breaking. */}
      <span className="min-w-0 break-words">{busy ? (busyLabel ?? children) : children}</span>
    </button>
  );
}

/** Link to another document that looks like a button. */
export function ButtonLink({
  variant = "primary",
  className = "",
  ...props
}: { variant?: ButtonVariant } & ComponentProps<"a">) {
  return <a {...props} className={`${baseClasses} ${variantClasses[variant]} ${className}`} />;
}
