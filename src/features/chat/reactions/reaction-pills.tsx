import { useContext } from "react";
import { useTranslation } from "react-i18next";
import { reactionClasses, toShownKinds } from "#components/messages/reaction-classes.ts";
import { hasLeftGroup } from "#contract/conversations.ts";
import type { ConversationId } from "#contract/ids.ts";
import type { ReactionCount } from "#contract/wire/reactions.ts";
import { useLongPressMenu } from "#features/chat/message/use-long-press-menu.ts";
import { ReplyActionsContext } from "#features/chat/reply/reply-actions-context.ts";
import type { ChatItem } from "#sync/hooks/use-chat.ts";
import { useConversation } from "#sync/hooks/use-conversations.ts";
import { toggleReaction, toShownSummary } from "./toggle-reaction.ts";

/** Ref of a pill: if it goes while it has the focus, the message gets it. */
const keepFocusInMessage = (pill: HTMLButtonElement | null) => () => {
  if (pill && document.activeElement === pill)
    pill.closest("li")?.querySelector<HTMLElement>("[data-message-menu]")?.focus({ preventScroll: true });
};

type ReactionPillsProps = {
  conversation: ConversationId;
  item: ChatItem;
  /** Whether the tab key stops at this message. */
  isTabStop: boolean;
  /** Shows who reacted. */
  onShowReactors: () => void;
};

/**
 * Reactions below a bubble. A press adds this person's reaction or removes it; a long press, or a press where the
 * person may not write, shows who reacted.
 */
export default function ReactionPills({ conversation, item, isTabStop, onShowReactors }: ReactionPillsProps) {
  const { t } = useTranslation();
  const canReact = useContext(ReplyActionsContext)?.startReply !== undefined;
  const view = useConversation(conversation);
  const canRemove = canReact || (view !== undefined && !hasLeftGroup(view));
  const longPressHandlers = useLongPressMenu(onShowReactors);
  const { shown, moreCount } = toShownKinds(toShownSummary(item));
  if (shown.length === 0) return null;
  const tabIndex = isTabStop ? 0 : -1;
  const describe = ({ emoji, count, isOwn }: ReactionCount) =>
    t(isOwn ? "reactions.countOwn" : "reactions.count", { count, emoji });
  return (
    <div className={reactionClasses.row} {...longPressHandlers}>
      {shown.map((kind) => (
        <button
          key={kind.emoji}
          ref={keepFocusInMessage}
          type="button"
          tabIndex={tabIndex}
          aria-label={describe(kind)}
          aria-pressed={kind.isOwn}
          className={`${reactionClasses.pill} ${kind.isOwn ? reactionClasses.own : reactionClasses.other}`}
          onClick={() =>
            canReact || (kind.isOwn && canRemove)
              ? void toggleReaction(conversation, item, kind.emoji, t)
              : onShowReactors()
          }
        >
          <span className="text-base">{kind.emoji}</span>
          {kind.count > 1 && kind.count}
        </button>
      ))}
      {moreCount > 0 && (
        <button
          type="button"
          tabIndex={tabIndex}
          aria-label={t("reactions.more", { count: moreCount })}
          className={`${reactionClasses.pill} ${reactionClasses.other}`}
          onClick={onShowReactors}
        >
          +{moreCount}
        </button>
      )}
    </div>
  );
}
