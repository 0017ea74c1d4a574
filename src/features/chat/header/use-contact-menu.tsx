import { useTranslation } from "react-i18next";
import { useNavigateIfStillHere } from "#components/layout/use-navigate-if-still-here.ts";
import type { MenuItem } from "#components/overlays/menu.tsx";
import { runWithToast } from "#components/overlays/run-with-toast.ts";
import { BlockPersonDialog, DeleteContactDialog } from "#components/people/person-dialogs.tsx";
import type { Uuid } from "#contract/ids.ts";
import { isolateBidi } from "#lib/text/bidi.ts";
import { blockPerson, deleteContact, unblockPerson } from "#sync/people/contact-commands.ts";
import { useConfirmation } from "./use-chat-menu.tsx";

type ContactMenuOptions = { userId: Uuid; name: string; isBlocked: boolean; isContact: boolean };

/** What the menu of a private chat does to the person in it, with the questions asked before (SPEC.md §2, §8). */
export const useContactMenu = ({ userId, name, isBlocked, isContact }: ContactMenuOptions) => {
  const { t } = useTranslation();
  const leadOn = useNavigateIfStillHere();
  const { question, isBusy, ask, answer, close } = useConfirmation<"block" | "delete">();
  const isolated = { name: isolateBidi(name) };

  const unblock = () =>
    runWithToast(() => unblockPerson(userId), {
      done: t("people.unblocked", isolated),
      failed: t("people.unblockFailed"),
    });
  const block = async () => {
    const texts = { done: t("people.blocked", isolated), failed: t("people.blockFailed") };
    if (await answer(() => blockPerson(userId), texts)) leadOn("/app");
  };
  const remove = () =>
    answer(() => deleteContact(userId), {
      done: t("contacts.contactDeleted"),
      failed: t("contacts.deleteContactError"),
    });

  const items: MenuItem[] = [
    isBlocked
      ? { id: "unblock", label: t("people.unblock"), icon: "i-ph-prohibit", onSelect: () => void unblock() }
      : { id: "block", label: t("people.block"), icon: "i-ph-prohibit", onSelect: () => ask("block") },
    ...(isContact
      ? [
          {
            id: "delete",
            label: t("chat.deleteContact"),
            icon: "i-ph-trash",
            tone: "danger" as const,
            onSelect: () => ask("delete"),
          },
        ]
      : []),
  ];

  const asked = { name, busy: isBusy, onClose: close };
  const dialog = (
    <>
      {question === "block" && <BlockPersonDialog {...asked} onConfirm={() => void block()} />}
      {question === "delete" && <DeleteContactDialog {...asked} onConfirm={() => void remove()} />}
    </>
  );
  return { items, dialog, unblock };
};
