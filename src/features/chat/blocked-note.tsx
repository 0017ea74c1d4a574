import { useState } from "react";
import { Button } from "../../components/button";
import { useT } from "../../i18n/setup";
import { isolate } from "../../lib/isolate";

/** Stands in the composer's place while I block this person. */
export function BlockedNote({ name, onUnblock }: { name: string; onUnblock: () => Promise<unknown> }) {
  const t = useT();
  const [isBusy, setBusy] = useState(false);
  const unblock = async () => {
    setBusy(true);
    await onUnblock();
    setBusy(false);
  };
  return (
    <div className="flex shrink-0 flex-wrap items-center justify-center gap-x-4 gap-y-1 border-t border-line bg-surface px-4 py-2 pb-[max(0.5rem,env(safe-area-inset-bottom))] text-center">
      <p role="status" className="min-w-0 text-muted [overflow-wrap:anywhere]">
        {t("people.youBlocked", { name: isolate(name) })}
      </p>
      <Button look="quiet" className="!px-3" busy={isBusy} onClick={() => void unblock()}>
        {t("people.unblock")}
      </Button>
    </div>
  );
}
