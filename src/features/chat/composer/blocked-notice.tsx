import { useState } from "react";
import { useTranslation } from "react-i18next";
import { Button } from "#components/controls/button.tsx";
import { isolate } from "#lib/text/bidi.ts";
import { BottomNote } from "./composer-notice.tsx";

/** Stands in the composer's place while I block this person. */
export function BlockedNote({ name, onUnblock }: { name: string; onUnblock: () => Promise<unknown> }) {
  const { t } = useTranslation();
  const [isBusy, setBusy] = useState(false);
  const unblock = async () => {
    setBusy(true);
    await onUnblock();
    setBusy(false);
  };
  return (
    <BottomNote text={t("people.youBlocked", { name: isolate(name) })}>
      <Button look="quiet" className="!px-3" busy={isBusy} onClick={() => void unblock()}>
        {t("people.unblock")}
      </Button>
    </BottomNote>
  );
}
