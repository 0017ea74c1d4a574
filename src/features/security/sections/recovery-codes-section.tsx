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

/** What is asked before codes are made: whether they are the first ones, or take the place of others. */
export type RecoveryCodesPrompt = "first" | "anew";

type RecoveryCodesSectionProps = {
  /** How many are left; null when there never were any. */
  left: number | null;
  /** Whether a second step is asked for, which they stand for too. */
  hasSecondFactor: boolean;
  prompt: RecoveryCodesPrompt | undefined;
  onPrompt: (offer: RecoveryCodesPrompt | undefined) => void;
};

/** The codes on paper: in the place of a forgotten password, or of a second step that was lost. */
export function RecoveryCodesSection({ left, hasSecondFactor, prompt, onPrompt }: RecoveryCodesSectionProps) {
  const { t } = useTranslation();
  const { withProof, reload } = useSecurityChanges();
  const [codes, setCodes] = useState<string[]>();
  const [isMaking, setMaking] = useState(false);

  const wordsOfLeft = (): string => {
    if (left === null) return t(hasSecondFactor ? "security.codes.none" : "security.codes.noneYet");
    return left === 0 ? t("security.codes.gone") : t("security.codes.left", { count: left });
  };
  const wordsOfOffer = (): string => {
    if (prompt === "anew") return t("security.codes.anewBody");
    return t(hasSecondFactor ? "security.codes.firstBody" : "security.codes.bodyAlone");
  };
  const make = async () => {
    setMaking(true);
    try {
      await withProof(async () => {
        const made = await createRecoveryCodesWithRetry();
        onPrompt(undefined);
        setCodes(made);
      });
    } catch (error) {
      const isUnheard = toErrorCode(error) === "offline";
      const message = isUnheard ? t("security.codes.unheard") : toErrorText(error, t);
      showToast({ tone: "danger", title: t("common.error"), message });
    }
    onPrompt(undefined);
    setMaking(false);
    void reload();
  };
  return (
    <SettingsCard title={t("security.codes.title")} icon="i-ph-list-numbers">
      {() => (
        <>
          <CardText>{wordsOfLeft()}</CardText>
          <ActionRow
            icon={left === null ? "i-ph-plus-circle" : "i-ph-arrows-clockwise"}
            label={t(left === null ? "security.codes.make" : "security.codes.makeAnew")}
            onPress={() => onPrompt(left ? "anew" : "first")}
          />
          <ConfirmDialog
            open={prompt !== undefined}
            title={t(prompt === "anew" ? "security.codes.anewTitle" : "security.codes.firstTitle")}
            body={wordsOfOffer()}
            confirmLabel={t("security.codes.makeNow")}
            cancelLabel={t(prompt === "anew" ? "common.cancel" : "security.codes.later")}
            tone="accent"
            busy={isMaking}
            onConfirm={() => void make()}
            onClose={() => onPrompt(undefined)}
          />
          {codes && <RecoveryCodesSheet codes={codes} onClose={() => setCodes(undefined)} />}
        </>
      )}
    </SettingsCard>
  );
}
