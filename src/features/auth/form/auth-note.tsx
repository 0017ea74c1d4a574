import type { ComponentProps } from "react";

/** Note above a form. */
export function AuthNote({ icon, children, ...props }: { icon: string } & Omit<ComponentProps<"div">, "className">) {
  return (
    <div {...props} className="mt-6 flex gap-3 rounded-card bg-raised px-4 py-3">
      <span className={`${icon} mt-0.5 shrink-0 text-xl text-accent`} aria-hidden="true" />
      {children}
    </div>
  );
}
