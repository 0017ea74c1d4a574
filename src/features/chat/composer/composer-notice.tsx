import type { ReactNode } from "react";

/** Stands in the composer's place where nothing can be written: why, and what can be done about it. */
export function ComposerNotice({ text, children }: { text: string; children?: ReactNode }) {
  return (
    <div className="flex shrink-0 flex-wrap items-center justify-center gap-x-4 gap-y-1 border-t border-line bg-surface px-4 py-2 pb-[max(0.5rem,env(safe-area-inset-bottom))] text-center">
      <p role="status" className="min-w-0 text-muted [overflow-wrap:anywhere]">
        {text}
      </p>
      {children}
    </div>
  );
}
