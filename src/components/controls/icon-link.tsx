import type { ComponentProps } from "react";
import { Link } from "react-router";
import { iconButtonClasses } from "./icon-button.tsx";

/** The shape of an icon button for going somewhere. A file of its own: the entry pages have no router. */
export function IconLink({
  icon,
  label,
  className = "",
  ...props
}: { icon: string; label: string } & Omit<ComponentProps<typeof Link>, "aria-label" | "children">) {
  return (
    <Link aria-label={label} title={label} className={`${iconButtonClasses} ${className}`} {...props}>
      <span className={icon} aria-hidden="true" />
    </Link>
  );
}
