import { useState } from "react";
import { useTranslation } from "react-i18next";
import { ConfirmDialog } from "#components/overlays/confirm-dialog.tsx";
import { attempt } from "#components/overlays/run-with-toast.ts";
import type { Uuid } from "#contract/ids.ts";
import { dropWaiting } from "#sync/feed/feed-commands.ts";
import { type Heir, useHeir } from "./use-focus-handoff.ts";

type DropQuestionProps = { id: Uuid; heir: Heir; isWaiting: boolean; onClose: () => void };

/** Asks before a status that waited is deleted. It stays while that is published, and then says what is so. */
export function DropQuestion({ id, heir, isWaiting, onClose }: DropQuestionProps) {
  const { t } = useTranslation();
  const [isBusy, setBusy] = useState(false);
  useHeir(heir);
  const drop = async () => {
    setBusy(true);
    await attempt(() => dropWaiting(id), { done: t("tala.deleted"), failed: t("tala.deleteFailed") });
    onClose();
  };
  return (
    <ConfirmDialog
      open
      title={t("tala.deleteTitle")}
      body={t(isWaiting ? "tala.deleteWaitingBody" : "tala.deleteBody")}
      confirmLabel={t("common.delete")}
      cancelLabel={t("common.cancel")}
      busy={isBusy}
      onConfirm={() => void drop()}
      onClose={onClose}
    />
  );
}
