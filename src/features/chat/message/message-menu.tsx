import { useContext, useEffect, useRef, useState } from "react";
import { useTranslation } from "react-i18next";
import { useNavigate } from "react-router";
import { lazyOverlay } from "#components/layout/lazy-component.tsx";
import { ConfirmDialog } from "#components/overlays/confirm-dialog.tsx";
import { copyText } from "#components/overlays/copy-text.ts";
import { type MenuAnchor, type MenuItem, MenuPopup } from "#components/overlays/menu.tsx";
import { showToast } from "#components/overlays/toast.tsx";
import { type AttachedBody, findAttachment } from "#contract/conversations.ts";
import type { ConversationId, Uuid } from "#contract/ids.ts";
import { saveToDevice } from "#features/chat/attachments/save-file.ts";
import { toFetchErrorKey, useAttachment } from "#features/chat/attachments/use-attachment.ts";
import { formatTime } from "#i18n/format.ts";
import { isolateBidi } from "#lib/text/bidi.ts";
import { deleteMessageForEveryone, deleteUnsentMessage, loadMulticast } from "#sync/actions.ts";
import type { ChatItem } from "#sync/hooks/use-live-query.ts";
import { asSyncError } from "#sync/platform/sync-error.ts";
import { ChatCallActionsContext } from "./call-actions-context.ts";
import { type ChatPeople, findSender } from "./senders.ts";

/** What is being done with a message, and where its menu opened. */
export type MessageAction = {
  item: ChatItem;
  anchor: MenuAnchor;
  step: "menu" | "save" | "forward" | "delete" | "receipts";
};

type MessageMenuProps = {
  conversation: ConversationId;
  me: Uuid;
  people: ChatPeople;
  action: MessageAction;
  onStep: (step: MessageAction["step"]) => void;
  onClose: () => void;
  /** Deleted, the message has no menu any more. */
  onCompleted: (how: "forwarded" | "deleted") => void;
};

// With what passes it on: once the sheet is open that might not be had any more.
const ForwardDialog = lazyOverlay(async () => {
  const [dialog] = await Promise.all([import("./forward-dialog.tsx"), loadMulticast()]);
  return dialog;
});
const ReceiptsSheet = lazyOverlay(() => import("./receipts-sheet.tsx"));

/** Fetches the file unless it is here, and gives it to the browser. */
function AttachmentDownload({
  conversation,
  body,
  onDone,
}: {
  conversation: ConversationId;
  body: AttachedBody;
  onDone: () => void;
}) {
  const { t } = useTranslation();
  const attachment = useAttachment(conversation, body);
  const { url, state, request } = attachment;
  const failure = state === "failed" ? toFetchErrorKey(attachment) : undefined;
  const hasAsked = useRef(false);
  useEffect(() => {
    if (url) saveToDevice(url, body.name);
    else if (!hasAsked.current) {
      hasAsked.current = true;
      if (request()) return;
    } else if (failure) showToast({ tone: "danger", title: t("common.error"), message: t(failure) });
    else return;
    onDone();
  }, [url, failure, request, body.name, onDone, t]);
  return null;
}

function DeleteMessageDialog({ conversation, action, onCompleted, onClose }: MessageMenuProps) {
  const { t } = useTranslation();
  const [isBusy, setBusy] = useState(false);
  const { seq, cid } = action.item;
  const remove = async () => {
    setBusy(true);
    try {
      if (seq !== undefined) await deleteMessageForEveryone(conversation, seq);
      else if (cid !== undefined) await deleteUnsentMessage(conversation, cid);
      showToast({ message: t("messages.deletedDone") });
      onCompleted("deleted");
    } catch (error) {
      const isOffline = asSyncError(error).code === "offline";
      const message = t(isOffline ? "errors.offline" : "messages.deleteFailed");
      showToast({ tone: "danger", title: t("common.error"), message });
    }
    onClose();
  };
  return (
    <ConfirmDialog
      open
      title={t("messages.deleteTitle")}
      body={t(seq === undefined ? "messages.deleteUnsentBody" : "messages.deleteBody")}
      confirmLabel={t("common.delete")}
      cancelLabel={t("common.cancel")}
      busy={isBusy}
      onConfirm={() => void remove()}
      onClose={onClose}
    />
  );
}

/** A message's menu and what it leads to. */
export default function MessageMenu(props: MessageMenuProps) {
  const { conversation, me, people, action, onStep, onClose } = props;
  const { t } = useTranslation();
  const navigate = useNavigate();
  const { item, anchor, step } = action;
  const { body } = item;
  const attached = findAttachment(body);
  const text = "text" in body ? body.text : undefined;
  const { members } = people;
  const calls = useContext(ChatCallActionsContext);
  const writer = item.mine ? undefined : findSender(people, item.sender, t);

  if (step === "save" && attached) {
    return <AttachmentDownload conversation={conversation} body={attached} onDone={onClose} />;
  }
  if (step === "delete") return <DeleteMessageDialog {...props} />;
  if (step === "forward") {
    return (
      <ForwardDialog
        conversation={conversation}
        me={me}
        item={item}
        onForwarded={() => props.onCompleted("forwarded")}
        onClose={onClose}
      />
    );
  }
  if (step === "receipts" && members && item.seq !== undefined) {
    return (
      <ReceiptsSheet
        group={conversation}
        ownNumber={members.ownNumber}
        seq={item.seq}
        body={body}
        status={item.status}
        onClose={onClose}
      />
    );
  }
  const callItems: (MenuItem | false | undefined)[] =
    body.type === "call"
      ? [
          calls && {
            id: "call",
            label: t(item.mine ? "callLines.callAgain" : "callLines.callBack"),
            icon: body.kind === "video" ? "i-ph-video-camera" : "i-ph-phone",
            onSelect: () => calls.callBack(body.kind),
          },
          calls?.startRecording && {
            id: "speak",
            label: t("callLines.speak"),
            icon: "i-ph-microphone",
            onSelect: calls.startRecording,
          },
        ]
      : [];
  const messageItems: (MenuItem | false | undefined)[] = [
    text !== undefined && {
      id: "copy",
      label: t("messages.copy"),
      icon: "i-ph-copy",
      onSelect: () => void copyText(text),
    },
    (item.seq !== undefined || item.status === "sending") && {
      id: "forward",
      label: t("messages.forward"),
      icon: "i-ph-arrow-bend-up-right",
      onSelect: () => onStep("forward"),
    },
    attached && {
      id: "save",
      label: t("messages.save"),
      icon: "i-ph-download-simple",
      onSelect: () => onStep("save"),
    },
    members &&
      item.mine &&
      item.seq !== undefined && {
        id: "receipts",
        label: t("groups.receipts.title"),
        icon: "i-ph-checks",
        onSelect: () => onStep("receipts"),
      },
    writer &&
      writer.user !== "" && {
        id: "writer",
        label: t("groups.chat.profileOf", { name: isolateBidi(writer.name) }),
        icon: "i-ph-user-circle",
        onSelect: () => navigate(`/app/user/${writer.user}`),
      },
    item.mine && {
      id: "delete",
      label: t("common.delete"),
      icon: "i-ph-trash",
      tone: "danger",
      onSelect: () => onStep("delete"),
    },
  ];
  return (
    <MenuPopup
      label={t("messages.options", { time: formatTime(item.at) })}
      anchor={anchor}
      items={(body.type === "call" ? callItems : messageItems).filter((entry) => !!entry)}
      onClose={onClose}
    />
  );
}
