import { useState } from "react";
import { useTranslation } from "react-i18next";
import { SettingsCard } from "#components/layout/settings-page.tsx";
import { ConfirmDialog } from "#components/overlays/confirm-dialog.tsx";
import { showToast } from "#components/overlays/toast.tsx";
import { makeRecoveryCodes } from "#features/security/account.ts";
import { useChanges } from "#features/security/changes.ts";
import { ActionRow, CardText } from "#features/security/row.tsx";
import { CodesSheet } from "#features/security/sheets/codes-sheet.tsx";
import { failureText } from "#lib/http/error-text.ts";
import { failureCode } from "#lib/http/http-request.ts";

/** What is asked before codes are made: whether they are the first ones, or take the place of others. */
export type CodesOffer = "first" | "anew";

type CodesSectionProps = {
  /** How many are left; null when there never were any. */
  left: number | null;
  /** Whether a second step is asked for, which they stand for too. */
  isAsked: boolean;
  offer: CodesOffer | undefined;
  onOffer: (offer: CodesOffer | undefined) => void;
};

/** The codes on paper: in the place of a forgotten password, or of a second step that was lost. */
export function CodesSection({ left, isAsked, offer, onOffer }: CodesSectionProps) {
  const { t } = useTranslation();
  const { withProof, reload } = useChanges();
  const [codes, setCodes] = useState<string[]>();
  const [isMaking, setMaking] = useState(false);

  const wordsOfLeft = (): string => {
    if (left === null) return t(isAsked ? "security.codes.none" : "security.codes.noneYet");
    return left === 0 ? t("security.codes.gone") : t("security.codes.left", { count: left });
  };
  const wordsOfOffer = (): string => {
    if (offer === "anew") return t("security.codes.anewBody");
    return t(isAsked ? "security.codes.firstBody" : "security.codes.bodyAlone");
  };
  const make = async () => {
    setMaking(true);
    try {
      await withProof(async () => {
        const made = await makeRecoveryCodes();
        onOffer(undefined);
        setCodes(made);
      });
    } catch (error) {
      const isUnheard = failureCode(error) === "offline";
      const message = isUnheard ? t("security.codes.unheard") : failureText(error, t);
      showToast({ tone: "danger", title: t("common.error"), message });
    }
    onOffer(undefined);
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
            onPress={() => onOffer(left ? "anew" : "first")}
          />
          <ConfirmDialog
            open={offer !== undefined}
            title={t(offer === "anew" ? "security.codes.anewTitle" : "security.codes.firstTitle")}
            body={wordsOfOffer()}
            confirmLabel={t("security.codes.makeNow")}
            cancelLabel={t(offer === "anew" ? "common.cancel" : "security.codes.later")}
            tone="accent"
            busy={isMaking}
            onConfirm={() => void make()}
            onClose={() => onOffer(undefined)}
          />
          {codes && <CodesSheet codes={codes} onClose={() => setCodes(undefined)} />}
        </>
      )}
    </SettingsCard>
  );
}
