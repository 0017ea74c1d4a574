import { useTranslation } from "react-i18next";
import { AuthNote } from "#features/auth/form/auth-note.tsx";
import { toProviderName } from "#lib/factors/providers.ts";

/** Note above the registration form for a user sent by an OAuth provider: it explains why the form is still needed. */
export function PendingRegistrationNote({ provider }: { provider: string }) {
  const { t } = useTranslation();
  const name = toProviderName(provider);
  return (
    <AuthNote role="status" icon="i-ph-link">
      <p>
        <strong className="block">{t("auth.newcomerTitle")}</strong>
        {t("auth.newcomerText", { name })}
      </p>
    </AuthNote>
  );
}
