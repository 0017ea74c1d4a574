import { type RefObject, useEffect, useState } from "react";
import {
  clearPendingRegistration,
  findPendingRegistration,
  type PendingRegistration,
} from "#lib/factors/pending-registration.ts";

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
