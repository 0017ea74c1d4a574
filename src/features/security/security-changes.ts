import { createContext, useContext, useState } from "react";
import { useTranslation } from "react-i18next";
import type { RunWithStepUp } from "#components/auth/reauthenticate.tsx";
import { focusTitle } from "#components/focus/title-focus.ts";
import { showToast } from "#components/overlays/toast.tsx";
import { toErrorText } from "#lib/http/error-text.ts";

/** Operations shared by the sections of the security page. */
export type SecurityChanges = {
  withStepUp: RunWithStepUp;
  /** Reloads the security overview from the server; never rejects. */
  reload: () => Promise<void>;
};

export const SecurityChangesContext = createContext<SecurityChanges>({
  withStepUp: () => Promise.reject(new Error("no SecurityChangesContext")),
  reload: () => Promise.resolve(),
});

export const useSecurityChanges = (): SecurityChanges => useContext(SecurityChangesContext);

/**
 * Returns a function that runs a change, with reauthentication if required, and shows the result. True if it succeeded.
 */
export const useSecurityAction = () => {
  const { t } = useTranslation();
  const { withStepUp, reload } = useSecurityChanges();
  return async (change: () => Promise<void>, doneMessage: string): Promise<boolean> => {
    try {
      if (!(await withStepUp(change))) return false;
    } catch (error) {
      showToast({ tone: "danger", title: t("common.error"), message: toErrorText(error, t) });
      await reload(); // the state may have changed elsewhere
      return false;
    }
    await reload();
    showToast({ message: doneMessage });
    return true;
  };
};

/** A change behind a confirmation: `ask` opens the dialog, `dialog` holds its props. */
export const useConfirmedChange = (change: () => Promise<void>, doneMessage: string) => {
  const runAction = useSecurityAction();
  const [isOpen, setOpen] = useState(false);
  const [isBusy, setBusy] = useState(false);
  const close = () => setOpen(false);
  const confirm = async () => {
    setBusy(true);
    const isDone = await runAction(change, doneMessage);
    setBusy(false);
    close();
    if (isDone) focusTitle();
  };
  const dialog = { open: isOpen, busy: isBusy, onConfirm: () => void confirm(), onClose: close };
  return { ask: () => setOpen(true), dialog };
};

export const passwordCardId = "password-card";
export const devicesCardId = "devices-card";

/** Scrolls to a card of the page and focuses its heading. */
export const focusSecurityCard = (card: typeof passwordCardId | typeof devicesCardId): void => {
  const heading = document.getElementById(card);
  heading?.scrollIntoView({ block: "start" });
  heading?.focus({ preventScroll: true });
};
