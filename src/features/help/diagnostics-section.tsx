import { useTranslation } from "react-i18next";
import { Button } from "#components/controls/button.tsx";
import { IconLabel } from "#components/controls/icon-label.tsx";
import { copyText } from "#components/overlays/copy-text.ts";
import { getAppVersion, useDiagnostics } from "./use-diagnostics.ts";

/** Technical facts of this device, to be copied for whoever helps. */
export function DiagnosticsSection() {
  const { t } = useTranslation();
  const text = useDiagnostics();
  return (
    <section aria-labelledby="diagnosis" className="rounded-card border border-line bg-surface p-4">
      <h2 id="diagnosis" className="font-semibold">
        {t("help.diagnosis")}
      </h2>
      <p className="mt-1 text-sm text-muted">{t("help.diagnosisBody")}</p>
      <pre
        lang="en"
        className="my-3 min-h-32 rounded-card bg-raised p-3 font-mono text-xs leading-relaxed break-words whitespace-pre-wrap"
      >
        {text}
      </pre>
      <Button
        variant="secondary"
        className="w-full"
        disabled={text === undefined}
        onClick={() => {
          if (text !== undefined) void copyText(text, { done: t("help.copied"), failed: t("help.copyFailed") });
        }}
      >
        <IconLabel icon="i-ph-copy" label={t("help.copy")} />
      </Button>
      <p className="mt-3 text-center text-sm text-muted">{t("help.version", { version: getAppVersion() })}</p>
    </section>
  );
}
