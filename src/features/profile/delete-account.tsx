import { useState } from "react";
import { useTranslation } from "react-i18next";
import { endCalls, isBrowserInCall } from "#calls/actions.ts";
import { useCanCall } from "#calls/hooks.ts";
import { useStepUp } from "#components/auth/reauthenticate.tsx";
import { Button } from "#components/controls/button.tsx";
import { ConfirmDialog } from "#components/overlays/confirm-dialog.tsx";
import { showToast } from "#components/overlays/toast.tsx";
import { useLanguage } from "#i18n/setup.ts";
import { toErrorCode } from "#lib/http/http-request.ts";
import { saveFlashMessage } from "#lib/session/flash-message.ts";
import { getSession } from "#lib/session/session.ts";
import { deleteAccount } from "#lib/session/sign-out.ts";
import { setSigningOut } from "#lib/session/signing-out.ts";
import { purgeLocalData, stopSync } from "#sync/engine.ts";
import { useUnsentSummary } from "#sync/hooks/use-live-query.ts";
import { formatUnsentContent } from "./sign-out-warning.ts";

type DeleteAccountDialogProps = { wasInCall: boolean; busy: boolean; onConfirm: () => void; onClose: () => void };

/** Asks, and says what goes with the account, also what only exists on this device and a call. */
function DeleteAccountDialog({ wasInCall, busy, onConfirm, onClose }: DeleteAccountDialogProps) {
  const { t } = useTranslation();
  const language = useLanguage();
  const unsent = useUnsentSummary();
  const isOver = useCanCall();
  const lost = unsent && formatUnsentContent(unsent, t, language);
  return (
    <ConfirmDialog
      open
      title={t("profile.deleteTitle")}
      body={
        <div className="flex flex-col gap-2">
          <p>{t("profile.deleteBody")}</p>
          <p>{t("profile.deleteKept")}</p>
          {lost !== undefined && <p className="font-semibold text-text">{t("profile.deleteLost", { what: lost })}</p>}
          {wasInCall && !isOver && <p className="font-semibold text-text">{t("profile.callToo")}</p>}
        </div>
      }
      confirmLabel={t(busy ? "profile.deleting" : "profile.deleteConfirm")}
      cancelLabel={t("common.cancel")}
      busy={busy}
      onConfirm={onConfirm}
      onClose={onClose}
    />
  );
}

/**
 * SPEC.md §2 Profile: deletes the account on the server, once its person has shown who they are, then everything of it in this browser, and goes to the log-in. Until
 * the server has said that it is done, nothing here is lost.
 */
export function DeleteAccountButton() {
  const { t } = useTranslation();
  const [asked, setAsked] = useState<{ isInCall: boolean }>();
  const [isBusy, setBusy] = useState(false);
  const { withStepUp, stepUp } = useStepUp();

  const remove = async () => {
    const userId = getSession()?.userId;
    if (userId === undefined) return; // signed out: the guard is about to lead away
    setBusy(true);
    const depart = async () => {
      setSigningOut(true);
      try {
        await deleteAccount(userId);
      } catch (error) {
        if (getSession()) setSigningOut(false);
        throw error;
      }
    };
    /** The session had ended meanwhile: nothing was deleted, here neither, and that is said where one logs in. */
    const leaveSignedOut = () => {
      saveFlashMessage({ title: t("profile.deleteFailedTitle"), message: t("profile.deleteSignedOut") });
      return stopSync().finally(() => location.replace("/login"));
    };
    const stay = () => {
      setBusy(false);
      setAsked(undefined);
    };
    try {
      if (!(await withStepUp(depart))) return stay();
    } catch (error) {
      if (!getSession()) return leaveSignedOut();
      const code = toErrorCode(error);
      const message = t(
        code === "offline"
          ? "profile.deleteOffline"
          : code === "user_not_found"
            ? "errors.user_not_found"
            : "profile.deleteFailed",
      );
      showToast({ title: t("profile.deleteFailedTitle"), message, tone: "danger" });
      return stay();
    }
    saveFlashMessage({ title: t("profile.deletedTitle"), message: t("profile.deleted") });
    try {
      await endCalls().catch(() => undefined); // the server ended them; what is left is this device's own side
      await purgeLocalData(userId);
    } finally {
      location.replace("/login");
    }
  };

  return (
    <>
      <Button
        variant="secondary"
        className="!text-danger"
        aria-haspopup="dialog"
        onClick={async () => setAsked({ isInCall: await isBrowserInCall() })}
      >
        <span className="flex items-center justify-center gap-2">
          <span className="i-ph-trash text-xl" aria-hidden="true" />
          {t("profile.deleteAccount")}
        </span>
      </Button>
      {asked && (
        <DeleteAccountDialog
          wasInCall={asked.isInCall}
          busy={isBusy}
          onConfirm={() => void remove()}
          onClose={() => setAsked(undefined)}
        />
      )}
      {stepUp}
    </>
  );
}
