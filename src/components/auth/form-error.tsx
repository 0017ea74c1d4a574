import type { ReactNode } from "react";

type FormErrorProps = {
  className?: string;
  /** What went wrong; nothing while nothing did. */
  children: ReactNode;
};

/** What went wrong with what was just tried, seen and heard. It is there before, empty, or no screen reader would hear it come. */
export function FormError({ className = "", children }: FormErrorProps) {
  return (
    <div role="alert" className="empty:hidden">
      {children && <p className={`rounded-card bg-danger-soft px-4 py-3 text-danger ${className}`}>{children}</p>}
    </div>
  );
}
