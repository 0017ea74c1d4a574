import { useState } from "react";
import { useTranslation } from "react-i18next";
import { endCalls, useCanCall } from "#calls/call-state.ts";
import { ConfirmDialog } from "#components/overlays/confirm-dialog.tsx";
import { showToast } from "#components/overlays/toast.tsx";
import { type TextKey, useLanguage } from "#i18n/setup.ts";
import { endPush } from "#lib/browser/push/end-push.ts";
import { sleep } from "#lib/browser/time/sleep.ts";
import { toErrorText } from "#lib/http/error-text.ts";
import { toErrorCode } from "#lib/http/http-request.ts";
import { saveFlashMessage } from "#lib/session/flash-message.ts";
import type { SignOutScope } from "#lib/session/pending-sign-out.ts";
import { getSession } from "#lib/session/session.ts";
import { signOut } from "#lib/session/sign-out.ts";
import { setSigningOut } from "#lib/session/signing-out.ts";
import { purgeLocalData } from "#sync/engine/engine.ts";
import { useUnsentSummary } from "#sync/hooks/use-unsent-content.ts";
import { checkSignOutLosses, formatUnsentContent, type SignOutLosses } from "./sign-out-warning.ts";

const endPushTimeoutMs = 2_000;

type SignOutDialogProps = { losses: SignOutLosses; scope: SignOutScope; onSignOut: () => void; onStay: () => void };

/**
 * Dialog that asks for confirmation before a sign-out of all devices, or one that would lose unsent content or end a
 * call. The text is updated if the content is sent or the call ends while the dialog is open.
 */
function SignOutDialog({ losses, scope, onSignOut, onStay }: SignOutDialogProps) {
  const { t } = useTranslation();
  const isCallOver = useCanCall();
  const language = useLanguage();
  const unsent = useUnsentSummary();
  const hasLosses = losses.hasUnsent || losses.isInCall;
  if (!unsent && hasLosses) return null;
  const unsentText = unsent && formatUnsentContent(unsent, t, language);
  const isInCall = losses.isInCall && !isCallOver;
  const isLossless = unsentText === undefined && !isInCall;
  const getTexts = (): [title: TextKey, body: string] => {
    if (unsentText !== undefined) {
      const unsent = t("profile.unsentBody", { what: unsentText });
      return ["profile.unsentTitle", isInCall ? `${unsent} ${t("profile.callToo")}` : unsent];
    }
    if (isInCall) return ["profile.inCallTitle", t("profile.inCall")];
    if (!hasLosses) return ["profile.signOutAllTitle", t("profile.signOutAllBody")];
    return ["profile.sentMeanwhileTitle", t(losses.hasUnsent ? "profile.sentMeanwhile" : "profile.callOver")];
  };
  const [title, body] = getTexts();
  return (
    <ConfirmDialog
      open
      title={t(title)}
      body={
        <>
          <p>{body}</p>
          {scope === "global" && hasLosses && <p className="mt-2">{t("profile.signOutEverywhere")}</p>}
        </>
      }
      confirmLabel={t(isLossless ? "profile.signOut" : "profile.signOutAnyway")}
      cancelLabel={t("profile.stay")}
      tone={isLossless ? "accent" : "danger"}
      onConfirm={onSignOut}
      onClose={onStay}
    />
  );
}

/**
 * Signs out (SPEC.md §2 Profile): ends the session of this device or all sessions of the user, deletes the user's local
 * data and opens the welcome page. Asks first if unsent messages or drafts would be lost, a call would end or other
 * devices would be signed out. Works offline.
 */
export const useSignOut = () => {
  const { t } = useTranslation();
  const [busy, setBusy] = useState<SignOutScope>();
  const [confirmation, setConfirmation] = useState<{ losses: SignOutLosses; scope: SignOutScope }>();

  const signOutNow = async (scope: SignOutScope) => {
    setConfirmation(undefined);
    setBusy(scope);
    let isServerInformed: boolean;
    const userId = getSession()?.userId;
    setSigningOut(true);
    try {
      await endCalls(); // before the sign-out, because the server accepts the end only from a valid session
      isServerInformed = await signOut(scope);
    } catch (error) {
      setSigningOut(false);
      const isKnown = toErrorCode(error) !== "internal";
      const message = isKnown ? toErrorText(error, t) : t("auth.signOutFailedMessage");
      showToast({ title: t("auth.signOutFailed"), message, tone: "danger" });
      setBusy(undefined);
      return;
    }
    saveFlashMessage(
      isServerInformed
        ? { message: t("auth.signedOut") }
        : { title: t("auth.signedOut"), message: t("auth.signedOutOffline") },
    );
    try {
      if (userId) await purgeLocalData(userId);
      // Started by `signOut`; a page that is left may not complete it.
      await Promise.race([endPush(), sleep(endPushTimeoutMs)]);
    } finally {
      location.replace("/");
    }
  };

  const requestSignOut = async (scope: SignOutScope) => {
    if (busy) return;
    const losses = await checkSignOutLosses();
    if (losses.hasUnsent || losses.isInCall || scope === "global") setConfirmation({ losses, scope });
    else await signOutNow(scope);
  };

  const dialog = confirmation && (
    <SignOutDialog
      {...confirmation}
      onSignOut={() => void signOutNow(confirmation.scope)}
      onStay={() => setConfirmation(undefined)}
    />
  );
  return { busy, requestSignOut, dialog };
};
