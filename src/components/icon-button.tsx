import type { ComponentProps } from "react";
import { Link } from "react-router";

const look =
  "inline-grid size-12 shrink-0 place-items-center rounded-full text-2xl text-text hover:bg-raised disabled:opacity-40 disabled:hover:bg-transparent";

/** A round 48 px button that shows an icon and says its label. */
export function IconButton({
  icon,
  label,
  className = "",
  ...props
}: { icon: string; label: string } & Omit<ComponentProps<"button">, "aria-label" | "children">) {
  return (
    <button type="button" aria-label={label} title={label} className={`${look} ${className}`} {...props}>
      <span className={icon} aria-hidden="true" />
    </button>
  );
}

/** The same shape for going somewhere. */
export function IconLink({
  icon,
  label,
  className = "",
  ...props
}: { icon: string; label: string } & Omit<ComponentProps<typeof Link>, "aria-label" | "children">) {
  return (
    <Link aria-label={label} title={label} className={`${look} ${className}`} {...props}>
      <span className={icon} aria-hidden="true" />
    </Link>
  );
}
