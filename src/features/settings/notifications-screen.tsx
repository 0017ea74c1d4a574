import { useTranslation } from "react-i18next";
import { SwitchRow } from "#components/controls/switch-row.tsx";
import { SettingsCard, SettingsPage } from "#components/layout/settings-page.tsx";
import { useSettings } from "#sync/hooks/use-settings.ts";
import { MutedList } from "./muted-list.tsx";
import { useChange } from "./use-update-settings.ts";

const kinds = [
  { kind: "messages", icon: "i-ph-chat-circle", title: "settings.notifications.messages" },
  { kind: "groups", icon: "i-ph-users-three", title: "settings.notifications.groups" },
] as const;

/** What sounds and shows when something arrives, on all devices of a person. */
export default function NotificationsScreen() {
  const { t } = useTranslation();
  const settings = useSettings();
  const change = useChange();
  return (
    <SettingsPage title={t("settings.notifications.title")} description={t("settings.notifications.description")}>
      {kinds.map(({ kind, icon, title }) => (
        <SettingsCard key={kind} title={t(title)} icon={icon}>
          {(heading) => (
            <>
              <SwitchRow
                within={heading}
                label={t("settings.notifications.sound")}
                body={t("settings.notifications.soundBody")}
                isOn={settings[kind].sound}
                onChange={(sound) => change({ [kind]: { sound } })}
              />
              <SwitchRow
                within={heading}
                label={t("settings.notifications.preview")}
                body={t("settings.notifications.previewBody")}
                isOn={settings[kind].preview}
                onChange={(preview) => change({ [kind]: { preview } })}
              />
            </>
          )}
        </SettingsCard>
      ))}
      <SettingsCard title={t("settings.notifications.calls")} icon="i-ph-phone">
        {(heading) => (
          <SwitchRow
            within={heading}
            label={t("settings.notifications.ring")}
            body={t("settings.notifications.ringBody")}
            isOn={settings.calls.sound}
            onChange={(sound) => change({ calls: { sound } })}
          />
        )}
      </SettingsCard>
      <MutedList />
      <p className="px-4 text-center text-sm text-muted">{t("settings.notifications.later")}</p>
    </SettingsPage>
  );
}
