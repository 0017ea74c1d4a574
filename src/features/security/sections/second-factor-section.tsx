import { useState } from "react";
import { useTranslation } from "react-i18next";
import { IconButton } from "#components/controls/icon-button.tsx";
import { SwitchRow } from "#components/controls/switch-row.tsx";
import { SettingsCard } from "#components/layout/settings-page.tsx";
import { ConfirmDialog } from "#components/overlays/confirm-dialog.tsx";
import { showToast } from "#components/overlays/toast.tsx";
import type { Factor } from "#contract/auth/auth.ts";
import type { Security } from "#contract/auth/security.ts";
import { factorsMax } from "#contract/limits/authentication.ts";
import { removeAuthenticatorApp } from "#features/security/security-api.ts";
import { useConfirmedChange, useSecurityAction } from "#features/security/security-changes.ts";
import { ActionRow, CardText, SecurityRow } from "#features/security/security-row.tsx";
import { AddAuthenticatorAppSheet } from "#features/security/sheets/add-authenticator-app-sheet.tsx";
import { useFormat } from "#i18n/use-format.ts";
import { setPasskeySecondStep } from "#lib/factors/passkeys.ts";
import { findSecondSteps, listCodeApps } from "#lib/session/security-overview.ts";
import { isolateBidi } from "#lib/text/bidi.ts";

function AuthenticatorAppListItem({ app, isLast }: { app: Factor; isLast: boolean }) {
  const { t } = useTranslation();
  const format = useFormat();
  const name = app.friendly_name;
  const doneMessage = t("security.apps.removed", { name: isolateBidi(name) });
  const { ask, dialog } = useConfirmedChange(() => removeAuthenticatorApp(app.id), doneMessage);
  return (
    <li>
      <SecurityRow
        icon="i-ph-device-mobile"
        title={<bdi>{name}</bdi>}
        details={[t("security.added", { date: format.date(Date.parse(app.created_at)) })]}
        end={
          <IconButton
            icon="i-ph-trash"
            label={t("security.removeName", { name })}
            aria-haspopup="dialog"
            onClick={ask}
          />
        }
      />
      <ConfirmDialog
        {...dialog}
        title={t("security.apps.removeTitle", { name: isolateBidi(name) })}
        body={t(isLast ? "security.apps.removeLast" : "security.apps.removeBody")}
        confirmLabel={t("security.remove")}
        cancelLabel={t("common.cancel")}
      />
    </li>
  );
}

/** Shows whether sign-in requires a second factor. */
function SecondFactorStatus({ security }: { security: Security }) {
  const { t } = useTranslation();
  const isOn = findSecondSteps(security) !== undefined;
  return (
    <div className="flex items-start gap-3 px-4 py-3">
      <span
        className={`mt-0.5 shrink-0 text-2xl ${isOn ? "i-ph-shield-check-fill text-accent" : "i-ph-shield text-muted"}`}
        aria-hidden="true"
      />
      <div className="min-w-0">
        <p className="font-semibold">{t(isOn ? "security.step.on" : "security.step.off")}</p>
        <p className="text-sm text-muted">{t(isOn ? "security.step.onBody" : "security.step.offBody")}</p>
      </div>
    </div>
  );
}

type SecondFactorSectionProps = {
  security: Security;
  /** Called after a second factor was enabled. */
  onEnabled: () => void;
};

/** Second factors of the account: authenticator apps and passkeys. */
export function SecondFactorSection({ security, onEnabled }: SecondFactorSectionProps) {
  const { t } = useTranslation();
  const runAction = useSecurityAction();
  const [isAdding, setAdding] = useState(false);
  const apps = listCodeApps(security);

  const togglePasskeys = async (isEnabled: boolean) => {
    const doneMessage = t(isEnabled ? "security.step.keysOn" : "security.step.keysOff");
    if ((await runAction(() => setPasskeySecondStep(isEnabled), doneMessage)) && isEnabled) onEnabled();
  };
  return (
    <SettingsCard title={t("security.step.title")} icon="i-ph-shield-check">
      {(heading) => (
        <>
          <SecondFactorStatus security={security} />
          {apps.length > 0 && (
            <ul aria-label={t("security.apps.title")} className="divide-y divide-line">
              {apps.map((app) => (
                <AuthenticatorAppListItem key={app.id} app={app} isLast={apps.length === 1} />
              ))}
            </ul>
          )}
          {apps.length === 0 && <CardText>{t("security.step.how")}</CardText>}
          {apps.length < factorsMax && (
            <ActionRow icon="i-ph-plus-circle" label={t("security.apps.add")} onPress={() => setAdding(true)} />
          )}
          {security.passkeys.length > 0 && (
            <SwitchRow
              label={t("security.step.keys")}
              description={t("security.step.keysBody")}
              groupHeadingId={heading}
              isOn={security.passkey_second_step}
              onChange={(isEnabled) => void togglePasskeys(isEnabled)}
            />
          )}
          {isAdding && (
            <AddAuthenticatorAppSheet
              names={apps.map((app) => app.friendly_name)}
              onAdded={(name) => {
                if (security.recovery_codes)
                  showToast({ message: t("security.apps.added", { name: isolateBidi(name) }) });
                onEnabled();
              }}
              onClose={() => setAdding(false)}
            />
          )}
        </>
      )}
    </SettingsCard>
  );
}
