import type { ReactNode } from "react";

type FormErrorProps = {
  className?: string;
  /** Error text; empty if there is none. */
  children: ReactNode;
};

/**
 * Error of the last attempt. The alert element is always in the page, because screen readers announce only changes of
 * an existing one.
 */
export function FormError({ className = "", children }: FormErrorProps) {
  return (
    <div role="alert" className="empty:hidden">
      {children && <p className={`rounded-card bg-danger-soft px-4 py-3 text-danger ${className}`}>{children}</p>}
    </div>
  );
}
