import { useState } from "react";
import { useTranslation } from "react-i18next";
import { IconButton } from "#components/controls/icon-button.tsx";
import { SwitchRow } from "#components/controls/switch-row.tsx";
import { SettingsCard } from "#components/layout/settings-page.tsx";
import { ConfirmDialog } from "#components/overlays/confirm-dialog.tsx";
import { showToast } from "#components/overlays/toast.tsx";
import type { Factor } from "#contract/auth/auth.ts";
import type { Security } from "#contract/auth/security.ts";
import { factorsMax } from "#contract/limits.ts";
import { removeApp } from "#features/security/account.ts";
import { useAskedChange, useCarryOut } from "#features/security/changes.ts";
import { ActionRow, CardText, Row } from "#features/security/row.tsx";
import { AddAppSheet } from "#features/security/sheets/add-app-sheet.tsx";
import { useFormat } from "#i18n/format.ts";
import { setPasskeyStep } from "#lib/factors/passkeys.ts";
import { findSteps, listApps } from "#lib/session/security-overview.ts";
import { isolate } from "#lib/text/bidi.ts";

function AppRow({ app, isLast }: { app: Factor; isLast: boolean }) {
  const { t } = useTranslation();
  const format = useFormat();
  const name = app.friendly_name;
  const done = t("security.apps.removed", { name: isolate(name) });
  const { ask, dialog } = useAskedChange(() => removeApp(app.id), done);
  return (
    <li>
      <Row
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
        title={t("security.apps.removeTitle", { name: isolate(name) })}
        body={t(isLast ? "security.apps.removeLast" : "security.apps.removeBody")}
        confirmLabel={t("security.remove")}
        cancelLabel={t("common.cancel")}
      />
    </li>
  );
}

/** Whether something is asked for. */
function Standing({ security }: { security: Security }) {
  const { t } = useTranslation();
  const isOn = findSteps(security) !== undefined;
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

type SecondStepSectionProps = {
  security: Security;
  /** Something is asked for from now on. */
  onAsked: () => void;
};

/** What is asked after the password: code apps and passkeys. */
export function SecondStepSection({ security, onAsked }: SecondStepSectionProps) {
  const { t } = useTranslation();
  const carryOut = useCarryOut();
  const [isAdding, setAdding] = useState(false);
  const apps = listApps(security);

  const switchKeys = async (isWanted: boolean) => {
    const done = t(isWanted ? "security.step.keysOn" : "security.step.keysOff");
    if ((await carryOut(() => setPasskeyStep(isWanted), done)) && isWanted) onAsked();
  };
  return (
    <SettingsCard title={t("security.step.title")} icon="i-ph-shield-check">
      {(heading) => (
        <>
          <Standing security={security} />
          {apps.length > 0 && (
            <ul aria-label={t("security.apps.title")} className="divide-y divide-line">
              {apps.map((app) => (
                <AppRow key={app.id} app={app} isLast={apps.length === 1} />
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
              body={t("security.step.keysBody")}
              within={heading}
              isOn={security.passkey_second_step}
              onChange={(isWanted) => void switchKeys(isWanted)}
            />
          )}
          {isAdding && (
            <AddAppSheet
              names={apps.map((app) => app.friendly_name)}
              onAdded={(name) => {
                if (security.recovery_codes) showToast({ message: t("security.apps.added", { name: isolate(name) }) });
                onAsked();
              }}
              onClose={() => setAdding(false)}
            />
          )}
        </>
      )}
    </SettingsCard>
  );
}
