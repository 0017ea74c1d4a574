import { useCallback, useEffect, useState } from "react";
import { useTranslation } from "react-i18next";
import { useStepUp } from "#components/auth/reauthenticate.tsx";
import { Button } from "#components/controls/button.tsx";
import { Spinner } from "#components/controls/spinner.tsx";
import { EmptyState } from "#components/layout/empty-state.tsx";
import { SettingsPage } from "#components/layout/settings-page.tsx";
import { toErrorText } from "#lib/http/error-text.ts";
import { toErrorCode } from "#lib/http/http-request.ts";
import { findSecondSteps, loadSecurityOverview, useSecurityOverview } from "#lib/session/security-overview.ts";
import { useSecurityNotices } from "#sync/hooks/notices/use-security-notices.ts";
import { useRetry } from "#sync/hooks/use-retry.ts";
import { SecurityNoticeList } from "./notices/security-notice-list.tsx";
import { DevicesSection } from "./sections/devices-section.tsx";
import { EmailSection } from "./sections/email-section.tsx";
import { FactorResetBanner } from "./sections/factor-reset-banner.tsx";
import { IdentitiesSection } from "./sections/identities-section.tsx";
import { PasskeysSection } from "./sections/passkeys-section.tsx";
import { PasswordSection } from "./sections/password-section.tsx";
import { type RecoveryCodesPrompt, RecoveryCodesSection } from "./sections/recovery-codes-section.tsx";
import { SecondFactorSection } from "./sections/second-factor-section.tsx";
import { SecurityChangesContext } from "./security-changes.ts";

/**
 * Security overview of the account. Reloaded on mount, on return to the page, since another tab may have changed it,
 * and on each security notice of another device.
 */
const useFreshSecurityOverview = () => {
  const security = useSecurityOverview();
  const [failure, setFailure] = useState<unknown>();
  const reload = useCallback(async () => {
    try {
      await loadSecurityOverview();
      setFailure(undefined);
    } catch (error) {
      setFailure(error);
    }
  }, []);
  const noticeIds = useSecurityNotices()
    .map(({ id }) => id)
    .join();
  // biome-ignore lint/correctness/useExhaustiveDependencies: each notice triggers a reload
  useEffect(() => void reload(), [reload, noticeIds]);
  useEffect(() => {
    const reloadIfVisible = () => {
      if (document.visibilityState === "visible") void reload();
    };
    addEventListener("focus", reloadIfVisible);
    addEventListener("online", reloadIfVisible);
    document.addEventListener("visibilitychange", reloadIfVisible);
    return () => {
      removeEventListener("focus", reloadIfVisible);
      removeEventListener("online", reloadIfVisible);
      document.removeEventListener("visibilitychange", reloadIfVisible);
    };
  }, [reload]);
  useRetry(toErrorCode(failure) === "offline" ? failure : undefined, () => void reload());
  return { security, failure, reload };
};

function SecurityLoadFailure({ failure, onRetry }: { failure: unknown; onRetry: () => Promise<void> }) {
  const { t } = useTranslation();
  const [isBusy, setBusy] = useState(false);
  const isOffline = toErrorCode(failure) === "offline";
  const retry = async () => {
    setBusy(true);
    await onRetry();
    setBusy(false);
  };
  return (
    <div role="alert" className="my-auto">
      <EmptyState
        icon={isOffline ? "i-ph-cloud-slash" : "i-ph-warning-circle"}
        title={t(isOffline ? "security.offlineTitle" : "security.failedTitle")}
        body={isOffline ? t("security.offline") : toErrorText(failure, t)}
        action={
          <Button busy={isBusy} onClick={() => void retry()}>
            {t("common.retry")}
          </Button>
        }
      />
    </div>
  );
}

/** Security page: password, second factor, recovery codes, passkeys, recovery address, linked accounts and devices. */
export default function SecurityScreen() {
  const { t } = useTranslation();
  const { security, failure, reload } = useFreshSecurityOverview();
  const { withStepUp, stepUp } = useStepUp();
  const [codesPrompt, setCodesPrompt] = useState<RecoveryCodesPrompt>();
  /** Offers recovery codes so that a lost second factor does not lock the user out. */
  const offerCodes = () => !security?.recovery_codes && setCodesPrompt("first");
  return (
    <SettingsPage title={t("security.title")} description={t("security.description")}>
      {security && (
        <SecurityChangesContext value={{ withStepUp, reload }}>
          {failure !== undefined && (
            <p role="status" className="rounded-card bg-raised px-4 py-3 text-sm">
              {t("security.stale")}
            </p>
          )}
          {security.reset && <FactorResetBanner reset={security.reset} />}
          <SecurityNoticeList />
          <PasswordSection />
          <SecondFactorSection security={security} onEnabled={offerCodes} />
          <RecoveryCodesSection
            left={security.recovery_codes}
            hasSecondFactor={findSecondSteps(security) !== undefined}
            prompt={codesPrompt}
            onPrompt={setCodesPrompt}
          />
          <PasskeysSection passkeys={security.passkeys} />
          <EmailSection email={security.email} pending={security.pending_email} />
          <IdentitiesSection identities={security.identities} providers={security.providers} />
          <DevicesSection devices={security.devices} />
        </SecurityChangesContext>
      )}
      {!security && failure !== undefined && <SecurityLoadFailure failure={failure} onRetry={reload} />}
      {!security && failure === undefined && (
        <div className="grid min-h-80 place-items-center">
          <Spinner label={t("common.loading")} className="text-4xl text-accent" />
        </div>
      )}
      {stepUp}
    </SettingsPage>
  );
}
