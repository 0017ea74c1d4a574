import { useState } from "react";
import { ConfirmDialog } from "../../components/dialog";
import { showToast } from "../../components/toast";
import { useT } from "../../i18n/setup";
import { setDeparting } from "../../lib/departure";
import { failureCode } from "../../lib/exchange";
import { failureText } from "../../lib/failure-text";
import { leaveNotice } from "../../lib/notice";
import { getSession, signOut } from "../../lib/session";
import { wipeLocalData } from "../../sync/engine";
import { countUnsent } from "./count-unsent";

/**
 * The way out (SPEC.md §2 Profile): ends the session on the server, removes this person's data from this
 * browser and goes to the welcome page. Asks first when messages would be lost that only exist here.
 */
export const useSignOut = () => {
  const t = useT();
  const [isBusy, setBusy] = useState(false);
  const [unsent, setUnsent] = useState(0);

  const leave = async () => {
    setUnsent(0);
    setBusy(true);
    const userId = getSession()?.userId;
    setDeparting(true);
    try {
      await signOut();
    } catch (error) {
      setDeparting(false);
      const isKnown = failureCode(error) !== "internal";
      const message = isKnown ? failureText(error, t) : t("auth.signOutFailedMessage");
      showToast({ title: t("auth.signOutFailed"), message, tone: "danger" });
      setBusy(false);
      return;
    }
    leaveNotice({ message: t("auth.signedOut") });
    try {
      if (userId) await wipeLocalData(userId);
    } finally {
      location.replace("/");
    }
  };

  const ask = async () => {
    const count = await countUnsent();
    if (count > 0) setUnsent(count);
    else await leave();
  };

  const dialog = (
    <ConfirmDialog
      open={unsent > 0}
      title={t("profile.unsentTitle")}
      body={t("profile.unsentBody", { count: unsent })}
      confirmLabel={t("profile.signOutAnyway")}
      cancelLabel={t("profile.stay")}
      onConfirm={() => void leave()}
      onClose={() => setUnsent(0)}
    />
  );
  return { isBusy, ask, dialog };
};
