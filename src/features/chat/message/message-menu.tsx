import { useContext, useEffect, useRef, useState } from "react";
import { useTranslation } from "react-i18next";
import { useNavigate } from "react-router";
import { ConfirmDialog } from "#components/overlays/confirm-dialog.tsx";
import { copyText } from "#components/overlays/copy-text.ts";
import { lazyOverlay } from "#components/overlays/lazy-overlay.tsx";
import type { MenuAnchor, MenuItem } from "#components/overlays/menu.tsx";
import MenuPopup from "#components/overlays/menu-popup.tsx";
import { runWithToast } from "#components/overlays/run-with-toast.ts";
import { showToast } from "#components/overlays/toast.tsx";
import {
  type AttachedBody,
  findAttachment,
  findReplyTarget,
  hasLeftGroup,
  toGroupPlace,
} from "#contract/conversations.ts";
import { isGroupActionAllowed } from "#contract/groups.ts";
import { type ConversationId, privateConversationId, privateMembers, type Uuid } from "#contract/ids.ts";
import { saveToDevice } from "#features/chat/attachments/save-file.ts";
import { toFetchErrorKey, useAttachment } from "#features/chat/attachments/use-attachment.ts";
import { canBeEdited, EditContext } from "#features/chat/edit/edit-context.ts";
import { findOwnReaction, toggleReaction, toShownSummary } from "#features/chat/reactions/toggle-reaction.ts";
import { pinWithToast } from "#features/chat/reply/pin-message.ts";
import { ReplyActionsContext } from "#features/chat/reply/reply-actions-context.ts";
import { useOpenGroupPlace } from "#features/chat/reply/use-open-group-place.ts";
import { useQuotedMessage } from "#features/chat/reply/use-quoted-message.ts";
import { formatTime } from "#i18n/format.ts";
import { composerHash } from "#lib/browser/push/composer-hash.ts";
import { isolateBidi } from "#lib/text/bidi.ts";
import {
  deleteForSelf,
  deleteMessageForEveryone,
  deleteUnsentMessage,
  loadMulticast,
  setReplyDraft,
  setStarred,
} from "#sync/actions.ts";
import type { ChatItem } from "#sync/hooks/use-chat.ts";
import { useConversation } from "#sync/hooks/use-conversations.ts";
import { usePerson } from "#sync/hooks/use-people.ts";
import { asSyncError } from "#sync/platform/sync-error.ts";
import { canBeAnswered } from "./bubble.tsx";
import { ChatCallActionsContext } from "./call-actions-context.ts";
import { type ChatPeople, findSender, getSenderName } from "./senders.ts";
import { useIsStarred } from "./use-is-starred.ts";

/** Running action on a message, with the anchor of its menu. */
export type MessageAction = {
  item: ChatItem;
  anchor: MenuAnchor;
  step: "menu" | "save" | "forward" | "delete" | "receipts" | "info" | "reactors" | "emoji";
};

type MessageMenuProps = {
  conversation: ConversationId;
  me: Uuid;
  people: ChatPeople;
  action: MessageAction;
  onStep: (step: MessageAction["step"]) => void;
  onClose: () => void;
  /** A completed action; a deleted message loses its menu. */
  onCompleted: (how: "forwarded" | "deleted") => void;
};

// Loads the sending code together with the dialog: the network may be gone once the dialog is open.
const ForwardDialog = lazyOverlay(async () => {
  const [dialog] = await Promise.all([import("./forward-dialog.tsx"), loadMulticast()]);
  return dialog;
});
const ReceiptsSheet = lazyOverlay(() => import("./receipts-sheet.tsx"));
const MessageInfoSheet = lazyOverlay(() => import("./message-info-sheet.tsx"));
const ReactorsSheet = lazyOverlay(() => import("#features/chat/reactions/reactors-sheet.tsx"));
const EmojiPicker = lazyOverlay(() => import("#features/chat/reactions/emoji-picker.tsx"));

/** Reactions offered in the menu itself. */
const quickEmoji = ["👍", "❤️", "😂", "😮", "😢", "🙏"];

/** Downloads the file if necessary and saves it through the browser. */
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
  const errorKey = state === "failed" ? toFetchErrorKey(attachment) : undefined;
  const hasRequested = useRef(false);
  useEffect(() => {
    if (url) saveToDevice(url, body.name);
    else if (!hasRequested.current) {
      hasRequested.current = true;
      if (request()) return;
    } else if (errorKey) showToast({ tone: "danger", title: t("common.error"), message: t(errorKey) });
    else return;
    onDone();
  }, [url, errorKey, request, body.name, onDone, t]);
  return null;
}

function DeleteMessageDialog({ conversation, people, action, onCompleted, onClose }: MessageMenuProps) {
  const { t } = useTranslation();
  const [isBusy, setBusy] = useState(false);
  const { seq, cid, mine, sender } = action.item;
  const view = useConversation(conversation);
  const isFormerMember = view !== undefined && hasLeftGroup(view);
  const isOwnerDeleting = !mine && view?.group?.role === "owner" && !isFormerMember;
  const canDeleteForAll = ((mine && !isFormerMember) || isOwnerDeleting) && seq !== undefined;
  const deleteMessage = async (isForSelf: boolean) => {
    setBusy(true);
    try {
      if (seq !== undefined) await (isForSelf ? deleteForSelf : deleteMessageForEveryone)(conversation, seq);
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
      body={
        isOwnerDeleting
          ? t("messages.deleteOfMemberBody", { name: isolateBidi(getSenderName(people, sender, t)) })
          : t(
              seq === undefined
                ? "messages.deleteUnsentBody"
                : mine && !isFormerMember
                  ? "messages.deleteBody"
                  : "messages.deleteForSelfBody",
            )
      }
      confirmLabel={t(
        seq === undefined ? "common.delete" : canDeleteForAll ? "messages.deleteForAll" : "messages.deleteForSelf",
      )}
      alternative={
        canDeleteForAll ? { label: t("messages.deleteForSelf"), onConfirm: () => void deleteMessage(true) } : undefined
      }
      cancelLabel={t("common.cancel")}
      busy={isBusy}
      onConfirm={() => void deleteMessage(!canDeleteForAll)}
      onClose={onClose}
    />
  );
}

/** Menu of a message and the dialogs it opens. */
export default function MessageMenu(props: MessageMenuProps) {
  const { conversation, me, people, action, onStep, onClose } = props;
  const { t } = useTranslation();
  const navigate = useNavigate();
  const { item, anchor, step } = action;
  const { body } = item;
  const attachedBody = findAttachment(body);
  const text = "text" in body ? body.text : undefined;
  const { members } = people;
  const callActions = useContext(ChatCallActionsContext);
  const replyActions = useContext(ReplyActionsContext);
  const startEdit = useContext(EditContext);
  const openPlace = useOpenGroupPlace();
  const quoted = useQuotedMessage(conversation, findReplyTarget(body));
  const view = useConversation(conversation);
  const isFormerMember = view !== undefined && hasLeftGroup(view);
  const isStarred = useIsStarred(conversation, item.seq) ?? item.starred ?? false;
  const toggleStar = () =>
    runWithToast(() => setStarred(conversation, item.seq ?? 0, !isStarred), {
      done: t(isStarred ? "starred.removed" : "starred.added"),
      failed: t("starred.failed"),
    });
  const isPinned = view?.pinnedMessages.includes(item.seq ?? 0) ?? false;
  const mayPin = isPinned || (view?.open && !view.blocked && !view.gone);
  const canPin = mayPin && (!view?.group || isGroupActionAllowed(view.group.role, "pin"));
  const sender = item.mine ? undefined : findSender(people, item.sender, t);
  const senderRow = usePerson(sender?.user || undefined);
  const canWriteToSender = senderRow?.state === "contact" && senderRow.blocked !== 1 && senderRow.deleted !== 1;

  if (step === "save" && attachedBody) {
    return <AttachmentDownload conversation={conversation} body={attachedBody} onDone={onClose} />;
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
  if (step === "info" && item.seq !== undefined)
    return <MessageInfoSheet conversation={conversation} item={{ ...item, seq: item.seq }} onClose={onClose} />;
  if (step === "reactors")
    return <ReactorsSheet conversation={conversation} me={me} people={people} item={item} onClose={onClose} />;
  const reactWith = (emoji: string) => void toggleReaction(conversation, item, emoji, t);
  if (step === "emoji") {
    return (
      <EmojiPicker
        onChoose={(emoji) => {
          onClose();
          if (emoji !== findOwnReaction(item)) reactWith(emoji);
        }}
        onClose={onClose}
      />
    );
  }
  const startReply = canBeAnswered(item) ? replyActions?.startReply : undefined;
  const replyItem: MenuItem | undefined = startReply && {
    id: "reply",
    label: t("messages.reply"),
    icon: "i-ph-arrow-bend-up-left",
    onSelect: () => startReply(item),
  };
  const quotedItem: MenuItem | undefined =
    quoted?.state === "found" && quoted.seq !== undefined && replyActions
      ? {
          id: "quoted",
          label: t("messages.showQuoted"),
          icon: "i-ph-arrow-elbow-left-up",
          onSelect: () => openPlace(findReplyTarget(body)) || replyActions.showQuoted(quoted.seq ?? 0, item),
        }
      : undefined;
  const callItems: (MenuItem | false | undefined)[] =
    body.type === "call"
      ? [
          callActions && {
            id: "call",
            label: t(item.mine ? "callLines.callAgain" : "callLines.callBack"),
            icon: body.kind === "video" ? "i-ph-video-camera" : "i-ph-phone",
            onSelect: () => callActions.callBack(body.kind),
          },
          callActions?.startRecording && {
            id: "speak",
            label: t("callLines.speak"),
            icon: "i-ph-microphone",
            onSelect: callActions.startRecording,
          },
          replyItem,
        ]
      : [];
  const own = findOwnReaction(item);
  const reactionItems: MenuItem[] =
    startReply && body.type !== "call"
      ? [
          ...quickEmoji.map((emoji) => ({
            id: emoji,
            label: t(emoji === own ? "reactions.remove" : "reactions.react", { emoji }),
            text: emoji,
            checked: emoji === own,
            onSelect: () => reactWith(emoji),
          })),
          {
            id: "emoji",
            label: t("reactions.choose"),
            icon: "i-ph-plus",
            checked: own !== undefined && !quickEmoji.includes(own),
            onSelect: () => onStep("emoji"),
          },
        ]
      : [];
  const messageItems: (MenuItem | false | undefined)[] = [
    replyItem,
    canWriteToSender &&
      !isFormerMember &&
      item.seq !== undefined && {
        id: "reply-privately",
        label: t("messages.replyPrivately"),
        icon: "i-ph-arrow-bend-double-up-left",
        onSelect: () => {
          setReplyDraft(privateConversationId(me, senderRow.id), toGroupPlace(conversation, item.seq ?? 0));
          void navigate(`/app/chat/${senderRow.id}${composerHash}`);
        },
      },
    quotedItem,
    text !== undefined && {
      id: "copy",
      label: t("messages.copy"),
      icon: "i-ph-copy",
      onSelect: () => void copyText(text),
    },
    startEdit &&
      canBeEdited(item) && {
        id: "edit",
        label: t("messages.edit"),
        icon: "i-ph-pencil-simple",
        onSelect: () => startEdit(item),
      },
    (item.seq !== undefined || item.status === "sending") && {
      id: "forward",
      label: t("messages.forward"),
      icon: "i-ph-arrow-bend-up-right",
      onSelect: () => onStep("forward"),
    },
    item.seq !== undefined && {
      id: "star",
      label: t(isStarred ? "starred.remove" : "starred.add"),
      icon: isStarred ? "i-ph-star-fill" : "i-ph-star",
      onSelect: () => void toggleStar(),
    },
    item.seq !== undefined &&
      canPin && {
        id: "pin",
        label: t(isPinned ? "pins.unpin" : "pins.pin"),
        icon: isPinned ? "i-ph-push-pin-slash" : "i-ph-push-pin",
        onSelect: () => void pinWithToast(conversation, item.seq ?? 0, !isPinned),
      },
    attachedBody && {
      id: "save",
      label: t("messages.save"),
      icon: "i-ph-download-simple",
      onSelect: () => onStep("save"),
    },
    toShownSummary(item) !== "" &&
      item.seq !== undefined && {
        id: "reactors",
        label: t("reactions.show"),
        icon: "i-ph-smiley",
        onSelect: () => onStep("reactors"),
      },
    members &&
      !isFormerMember &&
      item.mine &&
      item.seq !== undefined && {
        id: "receipts",
        label: t("groups.receipts.title"),
        icon: "i-ph-checks",
        onSelect: () => onStep("receipts"),
      },
    privateMembers(conversation) &&
      item.mine &&
      item.seq !== undefined && {
        id: "info",
        label: t("messages.info.title"),
        icon: "i-ph-info",
        onSelect: () => onStep("info"),
      },
    sender &&
      sender.user !== "" && {
        id: "sender",
        label: t("groups.chat.profileOf", { name: isolateBidi(sender.name) }),
        icon: "i-ph-user-circle",
        onSelect: () => navigate(`/app/user/${sender.user}`),
      },
    (item.mine || item.seq !== undefined) && {
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
      quickItems={reactionItems}
      items={(body.type === "call" ? callItems : messageItems).filter((entry) => !!entry)}
      onClose={onClose}
    />
  );
}
