import { useContext } from "react";
import { useTranslation } from "react-i18next";
import { useNavigate } from "react-router";
import { copyText } from "#components/overlays/copy-text.ts";
import type { MenuAnchor, MenuItem } from "#components/overlays/menu.tsx";
import MenuPopup from "#components/overlays/menu-popup.tsx";
import { runWithToast } from "#components/overlays/run-with-toast.ts";
import { hasLeftGroup } from "#contract/conversations.ts";
import { isGroupActionAllowed } from "#contract/groups.ts";
import { type ConversationId, privateConversationId, privateMembers, type Uuid } from "#contract/ids.ts";
import { findAttachment, findReplyTarget, toGroupPlace } from "#contract/messages/body.ts";
import { canBeEdited, EditContext } from "#features/chat/edit/edit-context.ts";
import { canBeAnswered } from "#features/chat/message/bubble.tsx";
import { ChatCallActionsContext } from "#features/chat/message/call-actions-context.ts";
import { type ChatPeople, findSender } from "#features/chat/message/senders.ts";
import { findOwnReaction, toggleReaction, toShownSummary } from "#features/chat/reactions/toggle-reaction.ts";
import { pinWithToast } from "#features/chat/reply/pin-message.ts";
import { ReplyActionsContext } from "#features/chat/reply/reply-actions-context.ts";
import { useOpenGroupPlace } from "#features/chat/reply/use-open-group-place.ts";
import { useQuotedMessage } from "#features/chat/reply/use-quoted-message.ts";
import { formatTime } from "#i18n/format.ts";
import { composerHash } from "#lib/browser/push/composer-hash.ts";
import { isolateBidi } from "#lib/text/bidi.ts";
import { setReplyDraft } from "#sync/actions/drafts.ts";
import { setStarred } from "#sync/actions/message-actions.ts";
import type { ChatItem } from "#sync/hooks/use-chat.ts";
import { useConversation } from "#sync/hooks/use-conversations.ts";
import { useLiveQuery } from "#sync/hooks/use-live-query.ts";
import { usePerson } from "#sync/hooks/use-people.ts";
import { readStarredSeqs } from "#sync/store/message-flags.ts";
import type { MessageAction } from "./message-action.ts";

/** Reactions offered in the menu itself. */
const quickEmoji = ["👍", "❤️", "😂", "😮", "😢", "🙏"];

/** Whether a message is starred; undefined until the store was read. */
const useIsStarred = (conversation: ConversationId, seq: number | undefined): boolean | undefined =>
  useLiveQuery(
    seq === undefined ? undefined : `star ${conversation} ${seq}`,
    async (context) => (await readStarredSeqs(context, conversation)).has(seq ?? 0),
    false,
  );

type MessageMenuProps = {
  conversation: ConversationId;
  me: Uuid;
  people: ChatPeople;
  item: ChatItem;
  anchor: MenuAnchor;
  /** Opens the dialog of an entry. */
  onStep: (step: Exclude<MessageAction["step"], "menu">) => void;
  onClose: () => void;
};

/** Menu of a message. */
export function MessageMenu({ conversation, me, people, item, anchor, onStep, onClose }: MessageMenuProps) {
  const { t } = useTranslation();
  const navigate = useNavigate();
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
      announced: t(isStarred ? "starred.removed" : "starred.added"),
      failed: t("starred.failed"),
    });
  const isPinned = view?.pinnedMessages.includes(item.seq ?? 0) ?? false;
  const mayPin = isPinned || (view?.open && !view.blocked && !view.gone);
  const canPin = mayPin && (!view?.group || isGroupActionAllowed(view.group.role, "pin"));
  const sender = item.mine ? undefined : findSender(people, item.sender, t);
  const senderRow = usePerson(sender?.user || undefined);
  const canWriteToSender = senderRow?.state === "contact" && senderRow.blocked !== 1 && senderRow.deleted !== 1;

  const reactWith = (emoji: string) => void toggleReaction(conversation, item, emoji, t);
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
