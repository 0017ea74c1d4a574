import { useState } from "react";
import { useTranslation } from "react-i18next";
import type { MenuItem } from "#components/overlays/menu.tsx";
import { attempt } from "#components/overlays/run-with-toast.ts";
import { ClearDialog } from "#components/people/person-dialogs.tsx";
import type { ConversationId } from "#contract/ids.ts";
import { clearConversation, muteConversation } from "#sync/actions.ts";
import type { ConversationView } from "#sync/hooks/use-live-query.ts";

/** A question asked before something is done; it goes either way. */
export const useQuestion = <What extends string>() => {
  const [question, setQuestion] = useState<What>();
  const [isBusy, setBusy] = useState(false);
  const answer = async (...doing: Parameters<typeof attempt>): Promise<boolean> => {
    setBusy(true);
    const isDone = await attempt(...doing);
    setBusy(false);
    setQuestion(undefined);
    return isDone;
  };
  return { question, isBusy, ask: setQuestion, answer, close: () => setQuestion(undefined) };
};

/** What the menu of every chat does to it, once the server knows it (SPEC.md §2, §8). */
export const useChatDeeds = (conversation: ConversationId, name: string, view: ConversationView | undefined) => {
  const { t } = useTranslation();
  const { question, isBusy, ask, answer, close } = useQuestion<"clear">();
  const isMuted = view?.muted ?? false;

  const mute = () =>
    attempt(() => muteConversation(conversation, !isMuted), {
      done: t(isMuted ? "mute.isOff" : "mute.isOn"),
      failed: t("mute.failed"),
    });
  const clear = () =>
    answer(() => clearConversation(conversation), { done: t("chat.cleared"), failed: t("chat.clearFailed") });

  const items: MenuItem[] =
    view?.known && !view.gone
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
    <ClearDialog
      name={name}
      isGroup={view?.kind === "group"}
      busy={isBusy}
      onClose={close}
      onConfirm={() => void clear()}
    />
  );
  return { items, dialog };
};
