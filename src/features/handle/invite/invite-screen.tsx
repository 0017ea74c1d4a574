import { useTranslation } from "react-i18next";
import { Screen } from "#components/layout/screen.tsx";
import { SettingsCard } from "#components/layout/settings-page.tsx";
import { InvitationCard } from "./invitation-card.tsx";

/** Route /app/senga/invite: the own invitation link and ways to send it. */
export default function InviteScreen() {
  const { t } = useTranslation();
  return (
    <Screen
      title={t("invite.title")}
      description={t("invite.description")}
      backPath="/app/senga"
      backMode="previous"
      hasProfileButton={false}
    >
      <div className="mx-auto flex w-full max-w-120 flex-col gap-5 p-4 pb-8">
        <p className="px-4">{t("invite.body")}</p>
        <SettingsCard title={t("invite.link")} icon="i-ph-share-network">
          {() => <InvitationCard />}
        </SettingsCard>
      </div>
    </Screen>
  );
}
