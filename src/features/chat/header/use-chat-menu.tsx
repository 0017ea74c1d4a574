import { useState } from "react";
import { useTranslation } from "react-i18next";
import { useNavigate } from "react-router";
import { lazyOverlay } from "#components/overlays/lazy-overlay.tsx";
import type { MenuItem } from "#components/overlays/menu.tsx";
import { runWithToast } from "#components/overlays/run-with-toast.ts";
import { LazyClearHistoryDialog, LazyDeleteLeftGroupDialog, MuteDialog } from "#components/people/lazy-dialogs.ts";
import { toUnmuteLabel } from "#components/people/mute-texts.ts";
import { hasLeftGroup } from "#contract/conversations.ts";
import type { ConversationId } from "#contract/ids.ts";
import { clearConversation, hideConversation, muteConversation } from "#sync/actions/conversations.ts";
import type { ConversationView } from "#sync/hooks/use-conversations.ts";

/** State of a confirmation dialog. `confirm` runs the action with a toast and closes the dialog whatever the result. */
export const useConfirmation = <Dialog extends string>() => {
  const [openDialog, setOpenDialog] = useState<Dialog>();
  const [isBusy, setBusy] = useState(false);
  const confirm = async (...args: Parameters<typeof runWithToast>): Promise<boolean> => {
    setBusy(true);
    const isDone = await runWithToast(...args);
    setBusy(false);
    setOpenDialog(undefined);
    return isDone;
  };
  return { openDialog, isBusy, open: setOpenDialog, confirm, close: () => setOpenDialog(undefined) };
};

const MediaGallery = lazyOverlay(() => import("#features/chat/search/gallery/media-gallery.tsx"));

/**
 * Menu entries of every chat: its media, mute, stars and clear history. A group that this person left has no mute, and
 * can be deleted. Empty until the conversation is stored.
 */
export const useChatMenu = (
  conversation: ConversationId,
  name: string,
  view: ConversationView | undefined,
  onShowMessage: (seq: number) => void,
) => {
  const { t } = useTranslation();
  const navigate = useNavigate();
  const { openDialog, isBusy, open, confirm, close } = useConfirmation<"clear" | "delete" | "gallery" | "mute">();
  const isMuted = view?.muted ?? false;

  const unmute = () =>
    runWithToast(() => muteConversation(conversation, false), { announced: t("mute.isOff"), failed: t("mute.failed") });
  const clear = () =>
    confirm(() => clearConversation(conversation), { announced: t("chat.cleared"), failed: t("chat.clearFailed") });
  const deleteConversation = () =>
    confirm(() => hideConversation(conversation), {
      announced: t("masolo.conversationDeleted"),
      failed: t("chat.clearFailed"),
    });

  const muteItems: MenuItem[] = [
    {
      id: "mute",
      label: isMuted ? toUnmuteLabel(view?.mutedUntil ?? null, t) : t("mute.on"),
      icon: isMuted ? "i-ph-bell" : "i-ph-bell-slash",
      onSelect: () => (isMuted ? void unmute() : open("mute")),
    },
    ...(isMuted
      ? [{ id: "muteLength", label: t("mute.change"), icon: "i-ph-bell-slash", onSelect: () => open("mute") }]
      : []),
  ];
  const deleteItem: MenuItem = {
    id: "delete",
    label: t("masolo.delete"),
    icon: "i-ph-trash",
    tone: "danger",
    onSelect: () => open("delete"),
  };
  const items: MenuItem[] =
    view?.isStored && !view.gone
      ? [
          { id: "gallery", label: t("gallery.title"), icon: "i-ph-images", onSelect: () => open("gallery") },
          ...(hasLeftGroup(view) ? [] : muteItems),
          {
            id: "starred",
            label: t("starred.title"),
            icon: "i-ph-star",
            onSelect: () => navigate(`/app/starred?chat=${conversation}`),
          },
          { id: "clear", label: t("chat.clear"), icon: "i-ph-broom", onSelect: () => open("clear") },
          ...(hasLeftGroup(view) ? [deleteItem] : []),
        ]
      : [];
  const showMessage = (seq: number) => {
    close();
    onShowMessage(seq);
  };
  const dialog =
    openDialog === "gallery" ? (
      <MediaGallery
        conversation={conversation}
        name={name}
        ownNumber={view?.group?.number}
        onShowMessage={showMessage}
        onClose={close}
      />
    ) : openDialog === "mute" ? (
      <MuteDialog
        isGroup={view?.kind === "group"}
        exceptsMentions={view?.mutedExceptMentions}
        onChoose={(mute, texts) => void runWithToast(() => muteConversation(conversation, true, mute), texts)}
        onClose={close}
      />
    ) : openDialog === "delete" ? (
      <LazyDeleteLeftGroupDialog
        name={name}
        busy={isBusy}
        onClose={close}
        onConfirm={() => void deleteConversation()}
      />
    ) : (
      openDialog === "clear" && (
        <LazyClearHistoryDialog
          name={name}
          isGroup={view?.kind === "group"}
          busy={isBusy}
          onClose={close}
          onConfirm={() => void clear()}
        />
      )
    );
  return { items, dialog };
};
