import type { ReactNode } from "react";

/** Replaces the composer where nothing can be written: the reason, and buttons that help. */
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
