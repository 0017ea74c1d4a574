import { useState } from "react";
import { useTranslation } from "react-i18next";
import { endCalls } from "#calls/actions.ts";
import { useCanCall } from "#calls/hooks.ts";
import { ConfirmDialog } from "#components/overlays/confirm-dialog.tsx";
import { showToast } from "#components/overlays/toast.tsx";
import { type TextKey, useLanguage } from "#i18n/setup.ts";
import { toErrorText } from "#lib/http/error-text.ts";
import { toErrorCode } from "#lib/http/http-request.ts";
import { saveFlashMessage } from "#lib/session/flash-message.ts";
import type { SignOutScope } from "#lib/session/pending-sign-out.ts";
import { getSession } from "#lib/session/session.ts";
import { signOut } from "#lib/session/sign-out.ts";
import { setSigningOut } from "#lib/session/signing-out.ts";
import { purgeLocalData } from "#sync/engine.ts";
import { useUnsentSummary } from "#sync/hooks/use-live-query.ts";
import { checkSignOutLosses, formatUnsentContent, type SignOutLosses } from "./sign-out-warning.ts";

type SignOutDialogProps = { losses: SignOutLosses; scope: SignOutScope; onSignOut: () => void; onStay: () => void };

/** Asks before what only exists here is lost or a call ends, and says what that is while it changes. */
function SignOutDialog({ losses, scope, onSignOut, onStay }: SignOutDialogProps) {
  const { t } = useTranslation();
  const isOver = useCanCall();
  const language = useLanguage();
  const unsent = useUnsentSummary();
  if (!unsent) return null;
  const lost = formatUnsentContent(unsent, t, language);
  const isCalling = losses.isInCall && !isOver;
  const isFree = lost === undefined && !isCalling;
  const say = (): [title: TextKey, body: string] => {
    if (lost !== undefined) {
      const unsent = t("profile.unsentBody", { what: lost });
      return ["profile.unsentTitle", isCalling ? `${unsent} ${t("profile.callToo")}` : unsent];
    }
    if (isCalling) return ["profile.inCallTitle", t("profile.inCall")];
    return ["profile.sentMeanwhileTitle", t(losses.hasUnsent ? "profile.sentMeanwhile" : "profile.callOver")];
  };
  const [title, body] = say();
  return (
    <ConfirmDialog
      open
      title={t(title)}
      body={
        <>
          <p>{body}</p>
          {scope === "global" && <p className="mt-2">{t("profile.signOutEverywhere")}</p>}
        </>
      }
      confirmLabel={t(isFree ? "profile.signOut" : "profile.signOutAnyway")}
      cancelLabel={t("profile.stay")}
      tone={isFree ? "accent" : "danger"}
      onConfirm={onSignOut}
      onClose={onStay}
    />
  );
}

/**
 * The way out (SPEC.md §2 Profile): ends the session of this device, or all of the person's, removes this person's data from this
 * browser and goes to the welcome page. Asks first when messages or drafts would be lost that only exist here, or a call
 * would end. Without a network it works all the same.
 */
export const useSignOut = () => {
  const { t } = useTranslation();
  const [busy, setBusy] = useState<SignOutScope>();
  const [question, setQuestion] = useState<{ losses: SignOutLosses; scope: SignOutScope }>();

  const leave = async (scope: SignOutScope) => {
    setQuestion(undefined);
    setBusy(scope);
    let isHeard: boolean;
    const userId = getSession()?.userId;
    setSigningOut(true);
    try {
      await endCalls(); // while the server still takes this person's word
      isHeard = await signOut(scope);
    } catch (error) {
      setSigningOut(false);
      const isKnown = toErrorCode(error) !== "internal";
      const message = isKnown ? toErrorText(error, t) : t("auth.signOutFailedMessage");
      showToast({ title: t("auth.signOutFailed"), message, tone: "danger" });
      setBusy(undefined);
      return;
    }
    saveFlashMessage(
      isHeard ? { message: t("auth.signedOut") } : { title: t("auth.signedOut"), message: t("auth.signedOutOffline") },
    );
    try {
      if (userId) await purgeLocalData(userId);
    } finally {
      location.replace("/");
    }
  };

  const ask = async (scope: SignOutScope) => {
    if (busy) return;
    const stake = await checkSignOutLosses();
    if (stake.hasUnsent || stake.isInCall) setQuestion({ losses: stake, scope });
    else await leave(scope);
  };

  const dialog = question && (
    <SignOutDialog {...question} onSignOut={() => void leave(question.scope)} onStay={() => setQuestion(undefined)} />
  );
  return { busy, ask, dialog };
};
