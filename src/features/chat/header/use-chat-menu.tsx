import { useState } from "react";
import { useTranslation } from "react-i18next";
import type { MenuItem } from "#components/overlays/menu.tsx";
import { runWithToast } from "#components/overlays/run-with-toast.ts";
import { ClearHistoryDialog } from "#components/people/person-dialogs.tsx";
import type { ConversationId } from "#contract/ids.ts";
import { clearConversation, muteConversation } from "#sync/actions.ts";
import type { ConversationView } from "#sync/hooks/use-live-query.ts";

/** A question asked before something is done; it goes either way. */
export const useConfirmation = <What extends string>() => {
  const [question, setQuestion] = useState<What>();
  const [isBusy, setBusy] = useState(false);
  const answer = async (...doing: Parameters<typeof runWithToast>): Promise<boolean> => {
    setBusy(true);
    const isDone = await runWithToast(...doing);
    setBusy(false);
    setQuestion(undefined);
    return isDone;
  };
  return { question, isBusy, ask: setQuestion, answer, close: () => setQuestion(undefined) };
};

/** What the menu of every chat does to it, once the server knows it (SPEC.md §2, §8). */
export const useChatMenu = (conversation: ConversationId, name: string, view: ConversationView | undefined) => {
  const { t } = useTranslation();
  const { question, isBusy, ask, answer, close } = useConfirmation<"clear">();
  const isMuted = view?.muted ?? false;

  const mute = () =>
    runWithToast(() => muteConversation(conversation, !isMuted), {
      done: t(isMuted ? "mute.isOff" : "mute.isOn"),
      failed: t("mute.failed"),
    });
  const clear = () =>
    answer(() => clearConversation(conversation), { done: t("chat.cleared"), failed: t("chat.clearFailed") });

  const items: MenuItem[] =
    view?.isStored && !view.gone
      ? [
          {
            id: "mute",
            label: t(isMuted ? "mute.off" : "mute.on"),
            icon: isMuted ? "i-ph-bell" : "i-ph-bell-slash",
            onSelect: () => void mute(),
          },
          { id: "clear", label: t("chat.clear"), icon: "i-ph-broom", onSelect: () => ask("clear") },
        ]
      : [];
  const dialog = question === "clear" && (
    <ClearHistoryDialog
      name={name}
      isGroup={view?.kind === "group"}
      busy={isBusy}
      onClose={close}
      onConfirm={() => void clear()}
    />
  );
  return { items, dialog };
};
