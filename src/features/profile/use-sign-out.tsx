import { useState } from "react";
import { endCalls } from "../../calls/actions";
import { ConfirmDialog } from "../../components/dialog";
import { showToast } from "../../components/toast";
import { formatList } from "../../i18n/format";
import { useLanguage, useT } from "../../i18n/setup";
import { setDeparting } from "../../lib/departure";
import { failureCode } from "../../lib/exchange";
import { failureText } from "../../lib/failure-text";
import { leaveNotice } from "../../lib/notice";
import { getSession, signOut } from "../../lib/session";
import { findUnsent, wipeLocalData } from "../../sync/engine";
import { useUnsent } from "../../sync/hooks";

/** Asks before what only exists here is lost, and says what that is while it changes. */
function LeaveDialog({ onLeave, onStay }: { onLeave: () => void; onStay: () => void }) {
  const t = useT();
  const language = useLanguage();
  const unsent = useUnsent();
  if (!unsent) return null;
  const { messages, drafts } = unsent;
  const lost = [
    ...(messages > 0 ? [t("profile.unsentMessages", { count: messages })] : []),
    ...(drafts > 0 ? [t("profile.unsentDrafts", { count: drafts })] : []),
  ];
  const hasLeft = lost.length === 0;
  return (
    <ConfirmDialog
      open
      title={t(hasLeft ? "profile.sentMeanwhileTitle" : "profile.unsentTitle")}
      body={hasLeft ? t("profile.sentMeanwhile") : t("profile.unsentBody", { what: formatList(lost, language) })}
      confirmLabel={t(hasLeft ? "profile.signOut" : "profile.signOutAnyway")}
      cancelLabel={t("profile.stay")}
      tone={hasLeft ? "accent" : "danger"}
      onConfirm={onLeave}
      onClose={onStay}
    />
  );
}

/**
 * The way out (SPEC.md §2 Profile): ends the session on the server, removes this person's data from this
 * browser and goes to the welcome page. Asks first when messages or drafts would be lost that only exist here.
 */
export const useSignOut = () => {
  const t = useT();
  const [isBusy, setBusy] = useState(false);
  const [isAsking, setAsking] = useState(false);

  const leave = async () => {
    setAsking(false);
    setBusy(true);
    const userId = getSession()?.userId;
    setDeparting(true);
    try {
      await endCalls(); // while the server still takes this person's word
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
    // A store that cannot be read must not keep anybody from signing out.
    const { messages, drafts } = await findUnsent().catch(() => ({ messages: 0, drafts: 0 }));
    if (messages + drafts > 0) setAsking(true);
    else await leave();
  };

  const dialog = isAsking && <LeaveDialog onLeave={() => void leave()} onStay={() => setAsking(false)} />;
  return { isBusy, ask, dialog };
};
