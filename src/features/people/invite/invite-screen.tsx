import { useTranslation } from "react-i18next";
import { Screen } from "#components/layout/screen.tsx";
import { SettingsCard } from "#components/layout/settings-page.tsx";
import { InvitationCard } from "./invitation-card.tsx";
import { NumberLookupCard } from "./number-lookup-card.tsx";
import { useInvitation } from "./use-invitation.ts";

/** Route /app/senga/invite: the own invitation link, and the search for several numbers. */
export default function InviteScreen() {
  const { t } = useTranslation();
  const invitation = useInvitation();
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
          {() => <InvitationCard invitation={invitation} />}
        </SettingsCard>
        <SettingsCard title={t("invite.numbers.title")} icon="i-ph-address-book">
          {() => <NumberLookupCard invitation={invitation} />}
        </SettingsCard>
      </div>
    </Screen>
  );
}
