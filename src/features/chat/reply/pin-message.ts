import { announceResult, showToast } from "#components/overlays/toast.tsx";
import type { ConversationId } from "#contract/ids.ts";
import { t } from "#i18n/setup.ts";
import { pinMessage } from "#sync/message-actions.ts";
import { asSyncError } from "#sync/platform/sync-error.ts";

/** Pins or unpins a message. A toast says what failed; the pinned bar and the entry about a pin show what succeeded. */
export const pinWithToast = async (conversation: ConversationId, seq: number, pinned: boolean): Promise<void> => {
  try {
    await pinMessage(conversation, seq, pinned);
  } catch (error) {
    const message = t(`errors.${asSyncError(error).code}`);
    showToast({ tone: "danger", title: t("common.error"), message });
    return;
  }
  if (!pinned) announceResult(t("pins.unpinned"));
};
