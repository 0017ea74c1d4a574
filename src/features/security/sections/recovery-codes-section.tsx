import { useState } from "react";
import { useTranslation } from "react-i18next";
import { SettingsCard } from "#components/layout/settings-page.tsx";
import { ConfirmDialog } from "#components/overlays/confirm-dialog.tsx";
import { showToast } from "#components/overlays/toast.tsx";
import { createRecoveryCodesWithRetry } from "#features/security/security-api.ts";
import { useSecurityChanges } from "#features/security/security-changes.ts";
import { ActionRow, CardText } from "#features/security/security-row.tsx";
import { RecoveryCodesSheet } from "#features/security/sheets/recovery-codes-sheet.tsx";
import { toErrorText } from "#lib/http/error-text.ts";
import { toErrorCode } from "#lib/http/http-request.ts";

/** Confirmation before codes are generated: the first ones, or a replacement of existing ones. */
export type RecoveryCodesPrompt = "first" | "replace";

type RecoveryCodesSectionProps = {
  /** Number of unused codes; null if none were ever generated. */
  left: number | null;
  /** True if sign-in requires a second factor, which a code can replace too. */
  hasSecondFactor: boolean;
  prompt: RecoveryCodesPrompt | undefined;
  onPrompt: (offer: RecoveryCodesPrompt | undefined) => void;
};

/** Recovery codes, which replace a forgotten password or a lost second factor. */
export function RecoveryCodesSection({ left, hasSecondFactor, prompt, onPrompt }: RecoveryCodesSectionProps) {
  const { t } = useTranslation();
  const { withStepUp, reload } = useSecurityChanges();
  const [codes, setCodes] = useState<string[]>();
  const [isGenerating, setGenerating] = useState(false);

  const getStatusText = (): string => {
    if (left === null) return t(hasSecondFactor ? "security.codes.none" : "security.codes.noneYet");
    return left === 0 ? t("security.codes.gone") : t("security.codes.left", { count: left });
  };
  const getPromptText = (): string => {
    if (prompt === "replace") return t("security.codes.anewBody");
    return t(hasSecondFactor ? "security.codes.firstBody" : "security.codes.bodyAlone");
  };
  const generate = async () => {
    setGenerating(true);
    try {
      await withStepUp(async () => {
        const generated = await createRecoveryCodesWithRetry();
        onPrompt(undefined);
        setCodes(generated);
      });
    } catch (error) {
      const isOffline = toErrorCode(error) === "offline";
      const message = isOffline ? t("security.codes.unheard") : toErrorText(error, t);
      showToast({ tone: "danger", title: t("common.error"), message });
    }
    onPrompt(undefined);
    setGenerating(false);
    void reload();
  };
  return (
    <SettingsCard title={t("security.codes.title")} icon="i-ph-list-numbers">
      {() => (
        <>
          <CardText>{getStatusText()}</CardText>
          <ActionRow
            icon={left === null ? "i-ph-plus-circle" : "i-ph-arrows-clockwise"}
            label={t(left === null ? "security.codes.make" : "security.codes.makeAnew")}
            onPress={() => onPrompt(left ? "replace" : "first")}
          />
          <ConfirmDialog
            open={prompt !== undefined}
            title={t(prompt === "replace" ? "security.codes.anewTitle" : "security.codes.firstTitle")}
            body={getPromptText()}
            confirmLabel={t("security.codes.makeNow")}
            cancelLabel={t(prompt === "replace" ? "common.cancel" : "security.codes.later")}
            tone="accent"
            busy={isGenerating}
            onConfirm={() => void generate()}
            onClose={() => onPrompt(undefined)}
          />
          {codes && <RecoveryCodesSheet codes={codes} onClose={() => setCodes(undefined)} />}
        </>
      )}
    </SettingsCard>
  );
}
