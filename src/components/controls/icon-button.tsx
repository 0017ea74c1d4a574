import type { ComponentProps } from "react";

/** Classes shared by all icon buttons and icon links. */
export const iconButtonClasses =
  "inline-grid size-12 shrink-0 place-items-center rounded-full text-[24px] hover:bg-raised disabled:opacity-40 disabled:hover:bg-transparent";

/** Round 48 px button with an icon and an accessible label. */
export function IconButton({
  icon,
  label,
  className = "",
  ...props
}: { icon: string; label: string } & Omit<ComponentProps<"button">, "aria-label" | "children">) {
  return (
    <button type="button" aria-label={label} title={label} className={`${iconButtonClasses} ${className}`} {...props}>
      <span className={icon} aria-hidden="true" />
    </button>
  );
}
