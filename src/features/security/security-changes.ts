import { createContext, useContext, useState } from "react";
import { useTranslation } from "react-i18next";
import type { RunWithStepUp } from "#components/auth/reauthenticate.tsx";
import { focusTitle } from "#components/focus/title-focus.ts";
import { showToast } from "#components/overlays/toast.tsx";
import { toErrorText } from "#lib/http/error-text.ts";

/** What every section changes things by. */
export type SecurityChanges = {
  withProof: RunWithStepUp;
  /** Shows how things are on the server now; never rejects. */
  reload: () => Promise<void>;
};

export const SecurityChangesContext = createContext<SecurityChanges>({
  withProof: () => Promise.reject(new Error("no page around")),
  reload: () => Promise.resolve(),
});

export const useSecurityChanges = (): SecurityChanges => useContext(SecurityChangesContext);

/** Changes something at a press, with a proof where one is asked for; says what came of it. Answers whether it is done. */
export const useSecurityAction = () => {
  const { t } = useTranslation();
  const { withProof, reload } = useSecurityChanges();
  return async (work: () => Promise<void>, done: string): Promise<boolean> => {
    try {
      if (!(await withProof(work))) return false;
    } catch (error) {
      showToast({ tone: "danger", title: t("common.error"), message: toErrorText(error, t) });
      await reload(); // it may have been changed elsewhere meanwhile
      return false;
    }
    await reload();
    showToast({ message: done });
    return true;
  };
};

/** A change that its person is asked about before: `ask` opens the dialog whose ways `dialog` holds. */
export const useConfirmedChange = (work: () => Promise<void>, done: string) => {
  const carryOut = useSecurityAction();
  const [isAsked, setAsked] = useState(false);
  const [isBusy, setBusy] = useState(false);
  const close = () => setAsked(false);
  const confirm = async () => {
    setBusy(true);
    const isDone = await carryOut(work, done);
    setBusy(false);
    close();
    if (isDone) focusTitle();
  };
  const dialog = { open: isAsked, busy: isBusy, onConfirm: () => void confirm(), onClose: close };
  return { ask: () => setAsked(true), dialog };
};

export const passwordCardId = "password-card";
export const devicesCardId = "devices-card";

/** Leads to one of the page's cards. */
export const focusSecurityCard = (card: typeof passwordCardId | typeof devicesCardId): void => {
  const heading = document.getElementById(card);
  heading?.scrollIntoView({ block: "start" });
  heading?.focus({ preventScroll: true });
};
