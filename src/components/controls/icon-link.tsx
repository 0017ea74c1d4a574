import type { ComponentProps } from "react";
import { Link } from "react-router";
import { iconButtonClasses } from "./icon-button.tsx";

/** Link that looks like an icon button. It has its own file because the entry pages are built without the router. */
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
