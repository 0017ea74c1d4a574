import { useTranslation } from "react-i18next";
import { ChoiceGroup } from "#components/controls/choice-group.tsx";
import { SwitchRow } from "#components/controls/switch-row.tsx";
import { SettingsCard, SettingsPage } from "#components/layout/settings-page.tsx";
import { previewLevels } from "#contract/settings/settings.ts";
import { useSettings } from "#sync/hooks/use-settings.ts";
import { MutedConversationList } from "./muted-list.tsx";
import { PhoneInstructions } from "./phone-instructions.tsx";
import { PushCard } from "./push-card.tsx";
import { QuietHoursCard } from "./quiet-hours-card.tsx";
import { useUpdateSettings } from "./use-update-settings.ts";

const notificationKinds = [
  { kind: "messages", icon: "i-ph-chat-circle", title: "settings.notifications.messages" },
  { kind: "groups", icon: "i-ph-users-three", title: "settings.notifications.groups" },
] as const;

/** Notifications of this device while the app is closed, and notification settings of the account, for all devices. */
export default function NotificationsScreen() {
  const { t } = useTranslation();
  const settings = useSettings();
  const updateSettings = useUpdateSettings();
  return (
    <SettingsPage title={t("settings.notifications.title")} description={t("settings.notifications.description")}>
      <PushCard />
      <PhoneInstructions />
      {notificationKinds.map(({ kind, icon, title }) => (
        <SettingsCard key={kind} title={t(title)} icon={icon}>
          {(heading) => (
            <>
              <SwitchRow
                groupHeadingId={heading}
                label={t("settings.notifications.sound")}
                description={t("settings.notifications.soundBody")}
                isOn={settings[kind].sound}
                onChange={(sound) => updateSettings({ [kind]: { sound } })}
              />
              <ChoiceGroup
                legend={t("settings.notifications.preview")}
                icon="i-ph-eye"
                name={`${kind}-preview`}
                choices={previewLevels.map((value) => ({ value, label: t(`settings.notifications.levels.${value}`) }))}
                value={settings[kind].preview}
                onChoose={(preview) => updateSettings({ [kind]: { preview } })}
              >
                <p className="mt-2 text-sm text-muted">{t("settings.notifications.previewBody")}</p>
              </ChoiceGroup>
            </>
          )}
        </SettingsCard>
      ))}
      <SettingsCard title={t("settings.notifications.reactions")} icon="i-ph-smiley">
        {() => (
          <SwitchRow
            label={t("settings.notifications.reactionsToMine")}
            description={t("settings.notifications.reactionsBody")}
            isOn={settings.reactions}
            onChange={(reactions) => updateSettings({ reactions })}
          />
        )}
      </SettingsCard>
      <SettingsCard title={t("settings.notifications.calls")} icon="i-ph-phone">
        {(heading) => (
          <SwitchRow
            groupHeadingId={heading}
            label={t("settings.notifications.ring")}
            description={t("settings.notifications.ringBody")}
            isOn={settings.calls.sound}
            onChange={(sound) => updateSettings({ calls: { sound } })}
          />
        )}
      </SettingsCard>
      <QuietHoursCard quietHours={settings.quietHours} onChange={(quietHours) => updateSettings({ quietHours })} />
      <MutedConversationList />
      <p className="px-4 text-center text-sm text-muted">{t("settings.notifications.later")}</p>
    </SettingsPage>
  );
}
