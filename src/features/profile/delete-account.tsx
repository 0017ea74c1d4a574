import { useState } from "react";
import { useTranslation } from "react-i18next";
import { endCalls, isBrowserInCall, useCanCall } from "#calls/call-state.ts";
import { useStepUp } from "#components/auth/reauthenticate.tsx";
import { Button } from "#components/controls/button.tsx";
import { IconLabel } from "#components/controls/icon-label.tsx";
import { ConfirmDialog } from "#components/overlays/confirm-dialog.tsx";
import { showToast } from "#components/overlays/toast.tsx";
import { useLanguage } from "#i18n/setup.ts";
import { toErrorCode } from "#lib/http/http-request.ts";
import { saveFlashMessage } from "#lib/session/flash-message.ts";
import { getSession } from "#lib/session/session.ts";
import { deleteAccount } from "#lib/session/sign-out.ts";
import { setSigningOut } from "#lib/session/signing-out.ts";
import { purgeLocalData, stopEngine } from "#sync/engine/engine.ts";
import { useUnsentSummary } from "#sync/hooks/use-unsent-content.ts";
import { formatUnsentContent } from "./sign-out-warning.ts";

type DeleteAccountDialogProps = { wasInCall: boolean; busy: boolean; onConfirm: () => void; onClose: () => void };

/** Confirmation that lists what is deleted, including content stored on this device only, and a running call. */
function DeleteAccountDialog({ wasInCall, busy, onConfirm, onClose }: DeleteAccountDialogProps) {
  const { t } = useTranslation();
  const language = useLanguage();
  const unsent = useUnsentSummary("account");
  const isCallOver = useCanCall();
  const unsentText = unsent && formatUnsentContent(unsent, t, language);
  return (
    <ConfirmDialog
      open
      title={t("profile.deleteTitle")}
      body={
        <div className="flex flex-col gap-2">
          <p>{t("profile.deleteBody")}</p>
          <p>{t("profile.deleteKept")}</p>
          {unsentText !== undefined && (
            <p className="font-semibold text-text">{t("profile.deleteLost", { what: unsentText })}</p>
          )}
          {wasInCall && !isCallOver && <p className="font-semibold text-text">{t("profile.callToo")}</p>}
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
 * Deletes the account (SPEC.md §2 Profile): on the server after reauthentication, then all local data, then opens the
 * sign-in page. Local data is kept until the server confirmed the deletion.
 */
export function DeleteAccountButton() {
  const { t } = useTranslation();
  const [confirmation, setConfirmation] = useState<{ isInCall: boolean }>();
  const [isBusy, setBusy] = useState(false);
  const { withStepUp, stepUp } = useStepUp();

  const remove = async () => {
    const userId = getSession()?.userId;
    if (userId === undefined) return; // signed out: the route guard is about to redirect
    setBusy(true);
    const deleteOnServer = async () => {
      setSigningOut(true);
      try {
        await deleteAccount(userId);
      } catch (error) {
        if (getSession()) setSigningOut(false);
        throw error;
      }
    };
    /** The session ended before the deletion: nothing was deleted, and the sign-in page says so. */
    const redirectToSignIn = () => {
      saveFlashMessage({ title: t("profile.deleteFailedTitle"), message: t("profile.deleteSignedOut") });
      return stopEngine().finally(() => location.replace("/login"));
    };
    const closeDialog = () => {
      setBusy(false);
      setConfirmation(undefined);
    };
    try {
      if (!(await withStepUp(deleteOnServer))) return closeDialog();
    } catch (error) {
      if (!getSession()) return redirectToSignIn();
      const code = toErrorCode(error);
      const message = t(
        code === "offline"
          ? "profile.deleteOffline"
          : code === "user_not_found"
            ? "errors.user_not_found"
            : "profile.deleteFailed",
      );
      showToast({ title: t("profile.deleteFailedTitle"), message, tone: "danger" });
      return closeDialog();
    }
    saveFlashMessage({ title: t("profile.deletedTitle"), message: t("profile.deleted") });
    try {
      await endCalls().catch(() => undefined); // the server ended them; this cleans up this device
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
        onClick={async () => setConfirmation({ isInCall: await isBrowserInCall() })}
      >
        <IconLabel icon="i-ph-trash" label={t("profile.deleteAccount")} />
      </Button>
      {confirmation && (
        <DeleteAccountDialog
          wasInCall={confirmation.isInCall}
          busy={isBusy}
          onConfirm={() => void remove()}
          onClose={() => setConfirmation(undefined)}
        />
      )}
      {stepUp}
    </>
  );
}
