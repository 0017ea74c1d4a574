import type { ReactNode } from "react";

export function NumberCard({ children }: { children: ReactNode }) {
  return (
    <section className="divide-y divide-line overflow-hidden rounded-card border border-line bg-surface">
      {children}
    </section>
  );
}
