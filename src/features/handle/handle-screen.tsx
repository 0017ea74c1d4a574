import { useTranslation } from "react-i18next";
import { PendingContent } from "#components/layout/pending-content.tsx";
import { SettingsCard, SettingsPage } from "#components/layout/settings-page.tsx";
import { useRemoteQuery } from "#sync/hooks/use-remote.ts";
import { parseOwnHandle, parseOwnLink } from "./handle-api.ts";
import { HandleForm } from "./handle-form.tsx";
import { PersonalLinkCard } from "./personal-link-card.tsx";

/** Own handle, and the personal link with its QR code: how others find this person without the number. */
export default function HandleScreen() {
  const { t } = useTranslation();
  const [handle, retryHandle] = useRemoteQuery("/api/handle", true, parseOwnHandle);
  const [link, retryLink] = useRemoteQuery("/api/link", true, parseOwnLink);
  return (
    <SettingsPage title={t("handle.title")} description={t("handle.description")}>
      <p className="px-4">{t("handle.body")}</p>
      <SettingsCard title={t("handle.mine")} icon="i-ph-at">
        {() =>
          handle.state === "found" ? (
            <HandleForm initial={handle.body.handle} />
          ) : (
            <PendingContent query={handle} retry={retryHandle} />
          )
        }
      </SettingsCard>
      <SettingsCard title={t("handle.link.title")} icon="i-ph-qr-code">
        {() =>
          link.state === "found" ? (
            <PersonalLinkCard initial={link.body.link} />
          ) : (
            <PendingContent query={link} retry={retryLink} />
          )
        }
      </SettingsCard>
    </SettingsPage>
  );
}
