import { type RefObject, useEffect, useState } from "react";
import {
  clearPendingRegistration,
  findPendingRegistration,
  type PendingRegistration,
} from "#lib/factors/pending-registration.ts";

/** Whoever comes to the registration from a provider; the form says what the provider calls them, unless something is typed. */
export const usePendingRegistration = (form: RefObject<HTMLFormElement | null>) => {
  const [newcomer, setNewcomer] = useState<PendingRegistration>();

  // Not known where the page is prerendered.
  useEffect(() => {
    const found = findPendingRegistration();
    if (!found) return;
    setNewcomer(found);
    const field = form.current?.querySelector<HTMLInputElement>("#displayName");
    if (field && field.value === "" && found.name !== null) field.value = found.name;
  }, [form]);

  return {
    newcomer,
    forget: () => {
      clearPendingRegistration();
      setNewcomer(undefined);
    },
  };
};
