import { useEffect, useEffectEvent, useState } from "react";
import { useTranslation } from "react-i18next";
import { IconButton } from "#components/controls/icon-button.tsx";
import { SettingsCard } from "#components/layout/settings-page.tsx";
import { ConfirmDialog } from "#components/overlays/confirm-dialog.tsx";
import { showToast } from "#components/overlays/toast.tsx";
import type { Identity } from "#contract/auth/auth.ts";
import type { Provider } from "#contract/auth/security.ts";
import { useConfirmedChange, useSecurityChanges } from "#features/security/security-changes.ts";
import { ActionRow, CardText, SecurityRow } from "#features/security/security-row.tsx";
import { useFormat } from "#i18n/use-format.ts";
import { finishProviderLinking, hasOAuthCallback, startProviderLinking, unlinkIdentity } from "#lib/factors/oauth.ts";
import { toErrorText } from "#lib/http/error-text.ts";

function IdentityListItem({ identity, provider }: { identity: Identity; provider: string }) {
  const { t } = useTranslation();
  const format = useFormat();
  const { email, name } = identity.identity_data;
  const doneMessage = t("security.linked.unlinked", { provider });
  const { ask, dialog } = useConfirmedChange(() => unlinkIdentity(identity.id), doneMessage);
  return (
    <li>
      <SecurityRow
        icon="i-ph-link-simple"
        title={provider}
        details={[email ?? name ?? "", t("security.added", { date: format.date(Date.parse(identity.created_at)) })]}
        end={
          <IconButton
            icon="i-ph-trash"
            label={t("security.linked.unlinkName", { provider })}
            aria-haspopup="dialog"
            onClick={ask}
          />
        }
      />
      <ConfirmDialog
        {...dialog}
        title={t("security.linked.unlinkTitle", { provider })}
        body={t("security.linked.unlinkBody", { provider })}
        confirmLabel={t("security.linked.unlink")}
        cancelLabel={t("common.cancel")}
      />
    </li>
  );
}

function LinkProviderButton({ provider }: { provider: Provider }) {
  const { t } = useTranslation();
  const { withStepUp } = useSecurityChanges();
  const [isBusy, setBusy] = useState(false);
  const link = async () => {
    setBusy(true);
    try {
      if (await withStepUp(() => startProviderLinking(provider.id))) return; // the browser is leaving the page
    } catch (error) {
      showToast({ tone: "danger", title: t("common.error"), message: toErrorText(error, t) });
    }
    setBusy(false);
  };
  const label = t("security.linked.link", { provider: provider.name });
  return <ActionRow icon="i-ph-plus-circle" label={label} busy={isBusy} onPress={() => void link()} />;
}

/** Shows the result of linking after the return from a provider. */
const useLinkingResult = () => {
  const { t } = useTranslation();
  const { reload } = useSecurityChanges();
  const showResult = useEffectEvent(() => {
    finishProviderLinking().then(
      async (result) => {
        if (result !== "linked") return;
        await reload();
        showToast({ message: t("security.linked.done") });
      },
      (error: unknown) => {
        showToast({ tone: "danger", title: t("security.linked.failed"), message: toErrorText(error, t) });
      },
    );
  });
  useEffect(() => {
    if (hasOAuthCallback()) showResult(); // the result is in the URL once
  }, []);
};

type IdentitiesSectionProps = { identities: readonly Identity[]; providers: readonly Provider[] };

/** Linked OAuth accounts and providers to link; renders nothing if there are none. */
export function IdentitiesSection({ identities, providers }: IdentitiesSectionProps) {
  const { t } = useTranslation();
  useLinkingResult();
  if (identities.length === 0 && providers.length === 0) return null;
  const getProviderName = (id: string): string => providers.find((provider) => provider.id === id)?.name ?? id;
  const unlinked = providers.filter(({ id }) => !identities.some(({ provider }) => provider === id));
  return (
    <SettingsCard title={t("security.linked.title")} icon="i-ph-link-simple">
      {(heading) => (
        <>
          <CardText>{t("security.linked.about")}</CardText>
          {identities.length > 0 && (
            <ul aria-labelledby={heading} className="divide-y divide-line">
              {identities.map((identity) => (
                <IdentityListItem key={identity.id} identity={identity} provider={getProviderName(identity.provider)} />
              ))}
            </ul>
          )}
          {unlinked.map((provider) => (
            <LinkProviderButton key={provider.id} provider={provider} />
          ))}
        </>
      )}
    </SettingsCard>
  );
}
