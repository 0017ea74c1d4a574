import { useState } from "react";
import { useTranslation } from "react-i18next";
import { Button } from "#components/controls/button.tsx";
import { isolateBidi } from "#lib/text/bidi.ts";
import { ComposerNotice } from "./composer-notice.tsx";

/** Replaces the composer while this user blocks the peer. */
export function BlockedNotice({ name, onUnblock }: { name: string; onUnblock: () => Promise<unknown> }) {
  const { t } = useTranslation();
  const [isBusy, setBusy] = useState(false);
  const unblock = async () => {
    setBusy(true);
    await onUnblock();
    setBusy(false);
  };
  return (
    <ComposerNotice text={t("people.youBlocked", { name: isolateBidi(name) })}>
      <Button variant="quiet" className="!px-3" busy={isBusy} onClick={() => void unblock()}>
        {t("people.unblock")}
      </Button>
    </ComposerNotice>
  );
}
