import { useState } from "react";
import { useTranslation } from "react-i18next";
import { Button } from "#components/controls/button.tsx";
import { IconLabel } from "#components/controls/icon-label.tsx";

/** Copies a text and shows the result itself, because toasts are hidden behind the dialog it is used in. */
export function CopyButton({ text, label }: { text: string; label: string }) {
  const { t } = useTranslation();
  const [outcome, setOutcome] = useState<"security.copied" | "security.copyFailed">();
  const copy = () =>
    navigator.clipboard.writeText(text).then(
      () => setOutcome("security.copied"),
      () => setOutcome("security.copyFailed"),
    );
  return (
    <div className="flex flex-col gap-1">
      <Button variant="secondary" onClick={() => void copy().catch(() => setOutcome("security.copyFailed"))}>
        <IconLabel icon="i-ph-copy" label={label} />
      </Button>
      <p role="status" className="min-h-6 text-center text-sm text-muted">
        {outcome && t(outcome)}
      </p>
    </div>
  );
}
