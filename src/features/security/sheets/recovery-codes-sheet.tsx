import { useEffect, useId, useState } from "react";
import { useTranslation } from "react-i18next";
import { Button } from "#components/controls/button.tsx";
import { ConfirmDialog } from "#components/overlays/confirm-dialog.tsx";
import { Sheet } from "#components/overlays/sheet.tsx";
import { useFormat } from "#i18n/use-format.ts";
import { CopyButton } from "./copy-button.tsx";
import { downloadText, printText, removePrintFrame } from "./download-text.ts";

/** Shows new recovery codes once, to copy, print or download. Closing requires a confirmation that they are saved. */
export function RecoveryCodesSheet({ codes, onClose }: { codes: readonly string[]; onClose: () => void }) {
  const { t } = useTranslation();
  const id = useId();
  const format = useFormat();
  const [isSaved, setSaved] = useState(false);
  const [isLeaving, setLeaving] = useState(false);
  useEffect(() => removePrintFrame, []);
  const title = t("security.codes.paper", { date: format.date(Date.now()) });
  const fileText = [title, "", ...codes, "", t("security.codes.once"), ""].join("\n");
  return (
    <Sheet title={t("security.codes.title")} onClose={() => (isSaved ? onClose() : setLeaving(true))}>
      <div className="flex min-h-0 flex-1 flex-col gap-4 overflow-y-auto overscroll-contain px-5 pb-8">
        <p>{t("security.codes.shown")}</p>
        <ol
          aria-label={t("security.codes.title")}
          className="divide-y divide-line rounded-card bg-raised px-4 py-2 font-mono text-sm"
          dir="ltr"
        >
          {codes.map((code) => (
            <li key={code} className="py-1 whitespace-nowrap select-all">
              {code}
            </li>
          ))}
        </ol>
        <div className="flex flex-col">
          <CopyButton text={codes.join("\n")} label={t("security.codes.copy")} />
          <div className="grid grid-cols-[repeat(auto-fit,minmax(9rem,1fr))] gap-2">
            <Button variant="secondary" onClick={() => downloadText(t("security.codes.file"), fileText)}>
              {t("security.codes.save")}
            </Button>
            <Button variant="secondary" onClick={() => printText(title, fileText)}>
              {t("security.codes.print")}
            </Button>
          </div>
        </div>
        <label htmlFor={id} className="flex min-h-12 cursor-pointer items-center gap-3">
          <input
            id={id}
            type="checkbox"
            checked={isSaved}
            onChange={({ target }) => setSaved(target.checked)}
            className="size-6 shrink-0 accent-$accent-fill"
          />
          <span className="font-semibold">{t("security.codes.noted")}</span>
        </label>
        <Button disabled={!isSaved} onClick={onClose}>
          {t("security.codes.done")}
        </Button>
      </div>
      <ConfirmDialog
        open={isLeaving}
        title={t("security.codes.leaveTitle")}
        body={t("security.codes.leaveBody")}
        confirmLabel={t("security.codes.leave")}
        cancelLabel={t("common.back")}
        onConfirm={onClose}
        onClose={() => setLeaving(false)}
      />
    </Sheet>
  );
}
