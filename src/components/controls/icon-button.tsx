import type { ComponentProps } from "react";

/** The shape of every icon one can press. */
export const iconButtonClasses =
  "inline-grid size-12 shrink-0 place-items-center rounded-full text-[24px] hover:bg-raised disabled:opacity-40 disabled:hover:bg-transparent";

/** A round 48 px button that shows an icon and says its label. */
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
