import { useContext, useEffect, useRef, useState } from "react";
import { useTranslation } from "react-i18next";
import { useNavigate } from "react-router";
import { lateLayer } from "#components/layout/lazy-component.tsx";
import { ConfirmDialog } from "#components/overlays/confirm-dialog.tsx";
import { copyText } from "#components/overlays/copy-text.ts";
import { type MenuAnchor, type MenuItem, MenuPopup } from "#components/overlays/menu.tsx";
import { showToast } from "#components/overlays/toast.tsx";
import { type AttachedBody, attachmentOf } from "#contract/conversations.ts";
import type { ConversationId, Uuid } from "#contract/ids.ts";
import { saveAs } from "#features/chat/attachments/save-file.ts";
import { fetchFailure, useAttachment } from "#features/chat/attachments/use-attachment.ts";
import { formatTime } from "#i18n/format.ts";
import { isolate } from "#lib/text/bidi.ts";
import { deleteUnsentMessage, loadSpreading, retractMessage } from "#sync/actions.ts";
import type { ChatItem } from "#sync/hooks/use-live-query.ts";
import { asSyncError } from "#sync/platform/sync-error.ts";
import { CallDeedsContext } from "./call-actions-context.ts";
import { type ChatPeople, writerOf } from "./senders.ts";

/** What is being done with a message, and where its menu opened. */
export type Deed = { item: ChatItem; anchor: MenuAnchor; step: "menu" | "save" | "forward" | "delete" | "receipts" };

type DeedsProps = {
  conversation: ConversationId;
  me: Uuid;
  people: ChatPeople;
  deed: Deed;
  onStep: (step: Deed["step"]) => void;
  onClose: () => void;
  /** Deleted, the message has no menu any more. */
  onDone: (how: "forwarded" | "deleted") => void;
};

// With what passes it on: once the sheet is open that might not be had any more.
const ForwardDialog = lateLayer(async () => {
  const [dialog] = await Promise.all([import("./forward-dialog.tsx"), loadSpreading()]);
  return dialog;
});
const ReceiptsSheet = lateLayer(() => import("./receipts-sheet.tsx"));

/** Fetches the file unless it is here, and gives it to the browser. */
function Saving({
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
  const { url, state, ask } = attachment;
  const failure = state === "failed" ? fetchFailure(attachment) : undefined;
  const hasAsked = useRef(false);
  useEffect(() => {
    if (url) saveAs(url, body.name);
    else if (!hasAsked.current) {
      hasAsked.current = true;
      if (ask()) return;
    } else if (failure) showToast({ tone: "danger", title: t("common.error"), message: t(failure) });
    else return;
    onDone();
  }, [url, failure, ask, body.name, onDone, t]);
  return null;
}

function DeleteDialog({ conversation, deed, onDone, onClose }: DeedsProps) {
  const { t } = useTranslation();
  const [isBusy, setBusy] = useState(false);
  const { seq, cid } = deed.item;
  const remove = async () => {
    setBusy(true);
    try {
      if (seq !== undefined) await retractMessage(conversation, seq);
      else if (cid !== undefined) await deleteUnsentMessage(conversation, cid);
      showToast({ message: t("messages.deletedDone") });
      onDone("deleted");
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
export default function MessageDeeds(props: DeedsProps) {
  const { conversation, me, people, deed, onStep, onClose } = props;
  const { t } = useTranslation();
  const navigate = useNavigate();
  const { item, anchor, step } = deed;
  const { body } = item;
  const attached = attachmentOf(body);
  const text = "text" in body ? body.text : undefined;
  const { members } = people;
  const calls = useContext(CallDeedsContext);
  const writer = item.mine ? undefined : writerOf(people, item.sender, t);

  if (step === "save" && attached) {
    return <Saving conversation={conversation} body={attached} onDone={onClose} />;
  }
  if (step === "delete") return <DeleteDialog {...props} />;
  if (step === "forward") {
    return (
      <ForwardDialog
        conversation={conversation}
        me={me}
        item={item}
        onForwarded={() => props.onDone("forwarded")}
        onClose={onClose}
      />
    );
  }
  if (step === "receipts" && members && item.seq !== undefined) {
    return (
      <ReceiptsSheet
        group={conversation}
        own={members.own}
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
          calls?.speak && {
            id: "speak",
            label: t("callLines.speak"),
            icon: "i-ph-microphone",
            onSelect: calls.speak,
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
        label: t("groups.chat.profileOf", { name: isolate(writer.name) }),
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
