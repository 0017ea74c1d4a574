import { useState } from "react";
import { useTranslation } from "react-i18next";
import { ConfirmDialog } from "#components/overlays/confirm-dialog.tsx";
import { runWithToast } from "#components/overlays/run-with-toast.ts";
import type { Uuid } from "#contract/ids.ts";
import { discardPendingPost } from "#sync/actions/posts.ts";
import { type FocusTarget, useRestoreFocus } from "./use-focus-handoff.ts";

type DiscardPostDialogProps = { id: Uuid; focusTarget: FocusTarget; isPending: boolean; onClose: () => void };

/**
 * Confirmation before a pending post is deleted. It stays open if the post is published meanwhile, with a changed text.
 */
export function DiscardPostDialog({ id, focusTarget, isPending, onClose }: DiscardPostDialogProps) {
  const { t } = useTranslation();
  const [isBusy, setBusy] = useState(false);
  useRestoreFocus(focusTarget);
  const discard = async () => {
    setBusy(true);
    await runWithToast(() => discardPendingPost(id), { announced: t("tala.deleted"), failed: t("tala.deleteFailed") });
    onClose();
  };
  return (
    <ConfirmDialog
      open
      title={t("tala.deleteTitle")}
      body={t(isPending ? "tala.deleteWaitingBody" : "tala.deleteBody")}
      confirmLabel={t("common.delete")}
      cancelLabel={t("common.cancel")}
      busy={isBusy}
      onConfirm={() => void discard()}
      onClose={onClose}
    />
  );
}
