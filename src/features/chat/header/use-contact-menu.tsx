import { useTranslation } from "react-i18next";
import { useNavigateIfStillHere } from "#components/layout/use-navigate-if-still-here.ts";
import type { MenuItem } from "#components/overlays/menu.tsx";
import { LazyBlockPersonDialog, LazyDeleteContactDialog } from "#components/people/lazy-dialogs.ts";
import type { Uuid } from "#contract/ids.ts";
import { unblockWithToast } from "#features/chat/composer/unblock-with-toast.ts";
import { isolateBidi } from "#lib/text/bidi.ts";
import { blockPerson, deleteContact } from "#sync/actions/contacts.ts";
import { useConfirmation } from "./use-chat-menu.tsx";

type ContactMenuOptions = { userId: Uuid; name: string; isBlocked: boolean; isContact: boolean };

/** Menu entries for the peer of a private chat: block, unblock and delete, with their confirmation dialogs. */
export const useContactMenu = ({ userId, name, isBlocked, isContact }: ContactMenuOptions) => {
  const { t } = useTranslation();
  const navigateIfStillHere = useNavigateIfStillHere();
  const { openDialog, isBusy, open, confirm, close } = useConfirmation<"block" | "delete">();
  const nameParam = { name: isolateBidi(name) };

  const block = async () => {
    const texts = { done: t("people.blocked", nameParam), failed: t("people.blockFailed") };
    if (await confirm(() => blockPerson(userId), texts)) navigateIfStillHere("/app");
  };
  const deletePeer = () =>
    confirm(() => deleteContact(userId), {
      announced: t("contacts.contactDeleted"),
      failed: t("contacts.deleteContactError"),
    });

  const items: MenuItem[] = [
    isBlocked
      ? {
          id: "unblock",
          label: t("people.unblock"),
          icon: "i-ph-prohibit",
          onSelect: () => void unblockWithToast(userId, name),
        }
      : { id: "block", label: t("people.block"), icon: "i-ph-prohibit", onSelect: () => open("block") },
    ...(isContact
      ? [
          {
            id: "delete",
            label: t("chat.deleteContact"),
            icon: "i-ph-trash",
            tone: "danger" as const,
            onSelect: () => open("delete"),
          },
        ]
      : []),
  ];

  const dialogProps = { name, busy: isBusy, onClose: close };
  const dialog = (
    <>
      {openDialog === "block" && <LazyBlockPersonDialog {...dialogProps} onConfirm={() => void block()} />}
      {openDialog === "delete" && <LazyDeleteContactDialog {...dialogProps} onConfirm={() => void deletePeer()} />}
    </>
  );
  return { items, dialog };
};
