import { useState } from "react";
import { useNavigate } from "react-router";
import type { ConversationId, Uuid } from "../../../contract/ids";
import { attempt } from "../../components/attempt";
import type { MenuItem } from "../../components/menu";
import { BlockDialog, ClearDialog, DeleteContactDialog } from "../../components/person-dialogs";
import { useT } from "../../i18n/setup";
import { isolate } from "../../lib/isolate";
import { clearConversation, muteConversation } from "../../sync/actions";
import { blockPerson, deleteContact, unblockPerson } from "../../sync/relations";

type Subject = {
  conversation: ConversationId;
  userId: Uuid;
  name: string;
  /** The server knows this conversation: there is something to mute or to clear. */
  isKnown: boolean;
  isMuted: boolean;
  isBlocked: boolean;
  isContact: boolean;
};

/** What the menu of a chat does to it and to the person in it, with the questions asked before (SPEC.md §2, §8). */
export const useChatDeeds = ({ conversation, userId, name, ...subject }: Subject) => {
  const t = useT();
  const navigate = useNavigate();
  const [question, setQuestion] = useState<"clear" | "block" | "delete">();
  const [isBusy, setBusy] = useState(false);
  const { isMuted, isBlocked } = subject;
  const isolated = { name: isolate(name) };

  const mute = () =>
    attempt(() => muteConversation(conversation, !isMuted), {
      done: t(isMuted ? "mute.isOff" : "mute.isOn"),
      failed: t("mute.failed"),
    });
  const unblock = () =>
    attempt(() => unblockPerson(userId), {
      done: t("people.unblocked", isolated),
      failed: t("people.unblockFailed"),
    });
  /** Does what was asked for; the question goes either way. */
  const answer = async (...doing: Parameters<typeof attempt>): Promise<boolean> => {
    setBusy(true);
    const isDone = await attempt(...doing);
    setBusy(false);
    setQuestion(undefined);
    return isDone;
  };
  const clear = () =>
    answer(() => clearConversation(conversation), { done: t("chat.cleared"), failed: t("chat.clearFailed") });
  const block = async () => {
    const texts = { done: t("people.blocked", isolated), failed: t("people.blockFailed") };
    if (await answer(() => blockPerson(userId), texts)) navigate("/app");
  };
  const remove = () =>
    answer(() => deleteContact(userId), {
      done: t("contacts.contactDeleted"),
      failed: t("contacts.deleteContactError"),
    });

  const items: MenuItem[] = [
    ...(subject.isKnown
      ? [
          {
            id: "mute",
            label: t(isMuted ? "mute.off" : "mute.on"),
            icon: isMuted ? "i-ph-bell" : "i-ph-bell-slash",
            onSelect: () => void mute(),
          },
          { id: "clear", label: t("chat.clear"), icon: "i-ph-broom", onSelect: () => setQuestion("clear") },
        ]
      : []),
    isBlocked
      ? { id: "unblock", label: t("people.unblock"), icon: "i-ph-prohibit", onSelect: () => void unblock() }
      : { id: "block", label: t("people.block"), icon: "i-ph-prohibit", onSelect: () => setQuestion("block") },
    ...(subject.isContact
      ? [
          {
            id: "delete",
            label: t("chat.deleteContact"),
            icon: "i-ph-trash",
            tone: "danger" as const,
            onSelect: () => setQuestion("delete"),
          },
        ]
      : []),
  ];

  const asked = { name, busy: isBusy, onClose: () => setQuestion(undefined) };
  const dialog = (
    <>
      {question === "clear" && <ClearDialog {...asked} onConfirm={() => void clear()} />}
      {question === "block" && <BlockDialog {...asked} onConfirm={() => void block()} />}
      {question === "delete" && <DeleteContactDialog {...asked} onConfirm={() => void remove()} />}
    </>
  );
  return { items, dialog, unblock };
};
