import { useId } from "react";
import { useTranslation } from "react-i18next";
import { IconButton } from "#components/controls/icon-button.tsx";
import { SettingsCard } from "#components/layout/settings-page.tsx";
import { ConfirmDialog } from "#components/overlays/confirm-dialog.tsx";
import type { SignedInDevice } from "#contract/auth/security.ts";
import { signOutDevice, signOutOtherDevices } from "#features/security/security-api.ts";
import { devicesCardId, useConfirmedChange } from "#features/security/security-changes.ts";
import { ActionRow, SecurityRow } from "#features/security/security-row.tsx";
import { isSameDay } from "#i18n/relative-date.ts";
import { useFormat } from "#i18n/use-format.ts";

const toDeviceIcon = (device: string): string =>
  /Android|iPhone|KaiOS/.test(device) ? "i-ph-device-mobile" : "i-ph-desktop";

function DeviceListItem({ device }: { device: SignedInDevice }) {
  const { t } = useTranslation();
  const format = useFormat();
  const detailsId = useId();
  const name = device.device || t("security.devices.unknown");
  const { created_at, used_at, current } = device;
  const { ask, dialog } = useConfirmedChange(() => signOutDevice(device.id), t("security.devices.ended", { name }));
  const used = isSameDay(used_at, Date.now())
    ? t("security.devices.usedToday", { time: format.time(used_at) })
    : t("security.used", { date: format.date(used_at) });
  const since = t("security.devices.since", { date: format.date(created_at), time: format.time(created_at) });
  return (
    <li>
      <SecurityRow
        icon={toDeviceIcon(device.device)}
        title={name}
        details={[current ? t("security.devices.current") : used, since]}
        textId={detailsId}
        end={
          !current && (
            <IconButton
              icon="i-ph-sign-out"
              label={t("security.devices.endName", { name })}
              aria-describedby={detailsId}
              aria-haspopup="dialog"
              onClick={ask}
            />
          )
        }
      />
      <ConfirmDialog
        {...dialog}
        title={t("security.devices.endTitle", { name })}
        body={
          <>
            <p>{used}</p>
            <p>{since}</p>
            <p className="mt-2">{t("security.devices.endBody")}</p>
          </>
        }
        confirmLabel={t("security.devices.end")}
        cancelLabel={t("common.cancel")}
      />
    </li>
  );
}

/** Devices on which the person is signed in, this one first. */
export function DevicesSection({ devices }: { devices: readonly SignedInDevice[] }) {
  const { t } = useTranslation();
  const { ask, dialog } = useConfirmedChange(signOutOtherDevices, t("security.devices.othersEnded"));
  const sorted = [...devices].sort((a, b) => Number(b.current) - Number(a.current) || b.used_at - a.used_at);
  return (
    <SettingsCard anchor={devicesCardId} title={t("security.devices.title")} icon="i-ph-devices">
      {(heading) => (
        <>
          <ul aria-labelledby={heading} className="divide-y divide-line">
            {sorted.map((device) => (
              <DeviceListItem key={device.id} device={device} />
            ))}
          </ul>
          {devices.some(({ current }) => !current) && (
            <ActionRow icon="i-ph-sign-out" tone="danger" label={t("security.devices.endOthers")} onPress={ask} />
          )}
          <ConfirmDialog
            {...dialog}
            title={t("security.devices.othersTitle")}
            body={t("security.devices.othersBody")}
            confirmLabel={t("security.devices.end")}
            cancelLabel={t("common.cancel")}
          />
        </>
      )}
    </SettingsCard>
  );
}
