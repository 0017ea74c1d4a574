import { useId, useState } from "react";
import { useTranslation } from "react-i18next";
import { Button } from "#components/controls/button.tsx";
import { prepareTitleFocus } from "#components/focus/title-focus.ts";
import type { FactorReset } from "#contract/auth/security.ts";
import { cancelPendingFactorReset } from "#features/security/security-api.ts";
import { useSecurityAction } from "#features/security/security-changes.ts";
import { useFormat } from "#i18n/use-format.ts";

/**
 * Banner about a requested second-factor reset: its due time and a button that cancels it. The button is sticky while
 * the page scrolls, because the reset may happen at any moment; the explanation is not, to save space on small screens.
 */
export function FactorResetBanner({ reset }: { reset: FactorReset }) {
  const { t } = useTranslation();
  const id = useId();
  const format = useFormat();
  const runAction = useSecurityAction();
  const [isBusy, setBusy] = useState(false);
  const cancel = async () => {
    const moveFocus = prepareTitleFocus();
    setBusy(true);
    if (await runAction(cancelPendingFactorReset, t("security.reset.kept"))) moveFocus();
    else setBusy(false);
  };
  return (
    <section aria-labelledby={id} className="contents">
      <div
        data-stays
        className="flex flex-wrap items-center gap-3 rounded-card border border-danger bg-danger-soft p-3 shadow-lg"
      >
        <div role="alert" className="flex-[3_1_16rem]">
          <h2 id={id} className="flex items-start gap-2 font-semibold text-danger">
            <span className="i-ph-warning-circle-fill mt-0.5 shrink-0 text-xl" aria-hidden="true" />
            {t("security.reset.title")}
          </h2>
        </div>
        <Button className="flex-[1_1_12rem]" busy={isBusy} onClick={() => void cancel()}>
          {t("security.reset.keep")}
        </Button>
      </div>
      <p role="alert" className="-mt-2 px-4">
        {t("security.reset.body", { date: format.date(reset.due_at), time: format.time(reset.due_at) })}
      </p>
    </section>
  );
}
