import { type RefObject, useEffect, useState } from "react";
import { useTranslation } from "react-i18next";
import { AuthNote } from "#features/auth/form/auth-note.tsx";
import {
  clearPendingRegistration,
  findPendingRegistration,
  type PendingRegistration,
} from "#lib/factors/pending-registration.ts";
import { toProviderName } from "#lib/factors/providers.ts";

/**
 * Registration started through an OAuth provider. Prefills the display name with the provider's unless one is typed.
 */
export const usePendingRegistration = (form: RefObject<HTMLFormElement | null>) => {
  const [registration, setRegistration] = useState<PendingRegistration>();

  // In an effect: the prerendered page does not know it.
  useEffect(() => {
    const stored = findPendingRegistration();
    if (!stored) return;
    setRegistration(stored);
    const field = form.current?.querySelector<HTMLInputElement>("#displayName");
    if (field && field.value === "" && stored.name !== null) field.value = stored.name;
  }, [form]);

  return {
    registration,
    clearRegistration: () => {
      clearPendingRegistration();
      setRegistration(undefined);
    },
  };
};

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
