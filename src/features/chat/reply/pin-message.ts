import { announceResult, showToast } from "#components/overlays/toast.tsx";
import type { ConversationId } from "#contract/ids.ts";
import { t } from "#i18n/setup.ts";
import { listClearedPins, pinMessage } from "#sync/actions/message-actions.ts";
import { asSyncError } from "#sync/platform/sync-error.ts";

/** Pins or unpins a message. A toast says what failed; the pinned bar and the entry about a pin show what succeeded. */
export const pinWithToast = async (conversation: ConversationId, seq: number, pinned: boolean): Promise<void> => {
  try {
    await pinMessage(conversation, seq, pinned);
  } catch (error) {
    const { code } = asSyncError(error);
    const cleared = code === "too_many_pinned_messages" ? await listClearedPins(conversation) : [];
    showToast({
      tone: "danger",
      title: t("common.error"),
      message: cleared.length > 0 ? t("pins.cleared") : t(`errors.${code}`),
      ...(cleared.length > 0 && {
        action: {
          label: t("pins.unpinCleared"),
          onSelect: () => {
            for (const clearedSeq of cleared) void pinWithToast(conversation, clearedSeq, false);
          },
        },
      }),
    });
    return;
  }
  if (!pinned) announceResult(t("pins.unpinned"));
};
