import { useCallback, useState } from "react";
import { useTranslation } from "react-i18next";
import type { MenuItem } from "#components/overlays/menu.tsx";
import { runWithToast } from "#components/overlays/run-with-toast.ts";
import { ClearHistoryDialog } from "#components/people/person-dialogs.tsx";
import { clearConversation, markReadUpTo, muteConversation } from "#sync/actions.ts";
import type { ConversationListItem } from "#sync/hooks/use-live-query.ts";
import { getConversationName } from "./conversation-name.ts";
import { DeleteConversationDialog } from "./delete-conversation.tsx";

type OpenConfirmation = { action: "clear" | "delete"; item: ConversationListItem };

/** What can be done with a conversation from the list, and the questions asked before. */
export const useConversationMenu = () => {
  const { t } = useTranslation();
  const [question, setQuestion] = useState<OpenConfirmation>();
  const [isClearing, setClearing] = useState(false);
  const close = useCallback(() => setQuestion(undefined), []);
  const askDelete = useCallback((item: ConversationListItem) => setQuestion({ action: "delete", item }), []);

  const lastingItems = useCallback(
    (item: ConversationListItem): MenuItem[] => [
      {
        id: "mute",
        label: t(item.muted ? "mute.off" : "mute.on"),
        icon: item.muted ? "i-ph-bell" : "i-ph-bell-slash",
        onSelect: () =>
          void runWithToast(() => muteConversation(item.id, !item.muted), {
            done: t(item.muted ? "mute.isOff" : "mute.isOn"),
            failed: t("mute.failed"),
          }),
      },
      {
        id: "clear",
        label: t("chat.clear"),
        icon: "i-ph-broom",
        onSelect: () => setQuestion({ action: "clear", item }),
      },
    ],
    [t],
  );
  const itemsOf = useCallback(
    (item: ConversationListItem): MenuItem[] => [
      ...(item.unread > 0
        ? [
            {
              id: "read",
              label: t("masolo.markRead"),
              icon: "i-ph-checks",
              onSelect: () => markReadUpTo(item.id, Number.MAX_SAFE_INTEGER),
            },
          ]
        : []),
      // Of a group that is not mine any more there is nothing but what was not sent.
      ...(item.gone ? [] : lastingItems(item)),
      {
        id: "delete",
        label: t("masolo.delete"),
        icon: "i-ph-trash",
        tone: "danger",
        onSelect: () => askDelete(item),
      },
    ],
    [t, askDelete, lastingItems],
  );

  const clear = async (item: ConversationListItem) => {
    setClearing(true);
    await runWithToast(() => clearConversation(item.id), { done: t("chat.cleared"), failed: t("chat.clearFailed") });
    setClearing(false);
    close();
  };
  const dialog = question && (
    <>
      {question.action === "clear" && (
        <ClearHistoryDialog
          name={getConversationName(question.item, t)}
          isGroup={question.item.kind === "group"}
          busy={isClearing}
          onConfirm={() => void clear(question.item)}
          onClose={close}
        />
      )}
      {question.action === "delete" && <DeleteConversationDialog item={question.item} onClose={close} />}
    </>
  );
  return { itemsOf, askDelete, dialog };
};
export type ConversationMenu = Pick<ReturnType<typeof useConversationMenu>, "itemsOf" | "askDelete">;
