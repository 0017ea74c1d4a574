import type { ReactNode } from "react";
import { useTranslation } from "react-i18next";
import { Button } from "#components/controls/button.tsx";
import { Spinner } from "#components/controls/spinner.tsx";
import { SettingsCard, SettingsPage } from "#components/layout/settings-page.tsx";
import { type RemoteQuery, useRemoteQuery } from "#sync/hooks/use-remote.ts";
import { parseOwnHandle, parseOwnLink } from "./handle-api.ts";
import { HandleForm } from "./handle-form.tsx";
import { PersonalLinkCard } from "./personal-link-card.tsx";

type LoadedProps<T> = { query: RemoteQuery<T>; retry: () => void; children: (body: T) => ReactNode };

/** Content of a card once its data is loaded. */
function Loaded<T>({ query, retry, children }: LoadedProps<T>) {
  const { t } = useTranslation();
  if (query.state === "found") return children(query.body);
  if (query.state === "loading") {
    return (
      <div className="grid min-h-40 place-items-center">
        <Spinner label={t("common.loading")} className="text-3xl text-accent" />
      </div>
    );
  }
  return (
    <div role="status" className="flex flex-col items-center gap-3 p-4 text-center">
      <p>{t(`errors.${query.state === "failed" ? query.code : "not_found"}`)}</p>
      <Button variant="secondary" onClick={retry}>
        {t("common.retry")}
      </Button>
    </div>
  );
}

/** Own handle, and the personal link with its QR code: how others find this person without the number. */
export default function HandleScreen() {
  const { t } = useTranslation();
  const [handle, retryHandle] = useRemoteQuery("/api/handle", true, parseOwnHandle);
  const [link, retryLink] = useRemoteQuery("/api/link", true, parseOwnLink);
  return (
    <SettingsPage title={t("handle.title")} description={t("handle.description")}>
      <p className="px-4">{t("handle.body")}</p>
      <SettingsCard title={t("handle.mine")} icon="i-ph-at">
        {() => (
          <Loaded query={handle} retry={retryHandle}>
            {(own) => <HandleForm initial={own.handle} />}
          </Loaded>
        )}
      </SettingsCard>
      <SettingsCard title={t("handle.link.title")} icon="i-ph-qr-code">
        {() => (
          <Loaded query={link} retry={retryLink}>
            {(own) => <PersonalLinkCard initial={own.link} />}
          </Loaded>
        )}
      </SettingsCard>
    </SettingsPage>
  );
}
