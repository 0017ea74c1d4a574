import { memo, useContext } from "react";
import { useTranslation } from "react-i18next";
import { IconButton } from "#components/controls/icon-button.tsx";
import { lazyComponent } from "#components/layout/lazy-component.tsx";
import { describeMessage } from "#components/messages/message-preview-text.ts";
import { MessageTicks } from "#components/messages/message-ticks.tsx";
import { quoteClasses } from "#components/messages/quote-classes.ts";
import type { MenuAnchor } from "#components/overlays/menu.tsx";
import { type ConversationId, deletedUserId, type Uuid } from "#contract/ids.ts";
import { findReplyTarget, getEditNumber, type StoredBody } from "#contract/messages/body.ts";
import { hasContent } from "#contract/messages/kinds.ts";
import { ReplyActionsContext } from "#features/chat/reply/reply-actions-context.ts";
import { useSwipeReply } from "#features/chat/reply/use-swipe-reply.ts";
import { formatTime } from "#i18n/format.ts";
import { loadWithIdleTexts, useLanguage } from "#i18n/setup.ts";
import { endsRightToLeft, isolateBidi } from "#lib/text/bidi.ts";
import type { ChatItem } from "#sync/hooks/use-chat.ts";
import { usePerson } from "#sync/hooks/use-people.ts";
import { BubbleContent } from "./bubble-content.tsx";
import { avatarColumnPx, listEdgePx } from "./bubble-metrics.ts";
import { type ChatParticipation, isClosedForSending } from "./chat-participation.ts";
import type { MessagePlacement } from "./message-layout.ts";
import { SenderAvatar, SenderName } from "./sender-label.tsx";
import type { GroupSender } from "./senders.ts";
import { useLongPressMenu } from "./use-long-press-menu.ts";

const FailedMessageActions = lazyComponent(() => loadWithIdleTexts(() => import("./failed-message.tsx")));
const FailedEdit = lazyComponent(() => loadWithIdleTexts(() => import("#features/chat/edit/failed-edit.tsx")));
const Quote = lazyComponent(() => loadWithIdleTexts(() => import("#features/chat/reply/quote.tsx")));
const ReactionPills = lazyComponent(() =>
  loadWithIdleTexts(() => import("#features/chat/reactions/reaction-pills.tsx")),
);

/** Actions of a bubble. All bubbles of a list share one stable object. */
export type BubbleActions = {
  openMenu: (item: ChatItem, anchor: MenuAnchor) => void;
  openImage: (item: ChatItem) => void;
  showReactors: (item: ChatItem) => void;
  /** Asks whether to delete a message. */
  askToDelete: (item: ChatItem) => void;
  expandText: (key: string) => void;
};

export type BubbleProps = {
  conversation: ConversationId;
  item: ChatItem;
  me: Uuid;
  /** Sender for screen readers, e.g. "Ana:". */
  authorLabel: string;
  /** Sender shown beside an incoming group message. */
  sender: GroupSender | undefined;
  placement: MessagePlacement;
  isTarget: boolean;
  /** Whether a long text is shown in full. */
  isExpanded: boolean;
  participation: ChatParticipation;
  /** Roving tab index: the tab key stops at one message menu, and the arrow keys move between menus. */
  isTabStop: boolean;
  actions: BubbleActions;
};

/** Original author of a forwarded message: the name in the message, unless that account is known to be deleted. */
function ForwardedLabel({ from: { by, name }, me }: { from: { by: Uuid; name: string }; me: Uuid }) {
  const { t } = useTranslation();
  const isDeleted = usePerson(by)?.deleted === 1 || by === deletedUserId;
  const authorName = isDeleted ? t("common.deletedAccount") : name || t("common.user");
  return (
    <p className="flex h-[22px] items-end gap-1 px-3 text-xs text-muted">
      <span className="i-ph-arrow-bend-up-right text-sm" aria-hidden="true" />
      <span className="min-w-0 truncate">
        {t("messages.forwardedFrom", { name: by === me ? t("messages.you") : isolateBidi(authorName) })}
      </span>
    </p>
  );
}

/** Whether a message can be answered: one that failed has no position in the conversation. */
export const canBeAnswered = ({ seq, status }: Pick<ChatItem, "seq" | "status">): boolean =>
  seq !== undefined || status === "sending";

/** Whether the message has a menu. */
export const hasMessageMenu = (body: StoredBody): boolean => hasContent(body) || body.type === "call";

/** A message that will never be sent shows no upload progress. */
const withoutUpload = ({ upload: _, ...item }: ChatItem): ChatItem => item;

const toDisplayedText = (body: StoredBody): string => ("text" in body ? (body.text ?? "") : "");

/** Message bubble with the time in the corner of its content. Stacked combining marks are clipped at its edge. */
function BubbleView({ conversation, item, me, authorLabel, sender, placement, actions, ...props }: BubbleProps) {
  const { t } = useTranslation();
  const { body, mine, at, status, cid } = item;
  const { endsRun, hasAvatarColumn, hasSenderName } = placement;
  const time = formatTime(at, useLanguage());
  const edited = getEditNumber(body) > 0 && t("messages.edited");
  const hasMenu = hasContent(body);
  const longPressHandlers = useLongPressMenu(hasMenu ? (anchor) => actions.openMenu(item, anchor) : undefined);
  const { people, startReply } = useContext(ReplyActionsContext) ?? {};
  const swipeToReply = useSwipeReply(hasMenu && startReply && canBeAnswered(item) ? () => startReply(item) : undefined);
  const target = item.replyTo ?? findReplyTarget(body);
  const isOverImage = body.type === "image" && body.text === undefined;
  const isRtl = endsRightToLeft(toDisplayedText(body));
  const corner = endsRun ? (mine ? "rounded-br-[6px]" : "rounded-bl-[6px]") : "";
  return (
    <div
      className={`group relative flex flex-col px-3 ${mine ? "items-end" : "items-start"} ${endsRun ? "pb-2" : "pb-0.5"}`}
      style={hasAvatarColumn ? { paddingLeft: listEdgePx + avatarColumnPx } : undefined}
    >
      {hasAvatarColumn && endsRun && sender && <SenderAvatar sender={sender} />}
      <div
        className="relative max-w-[min(85%,34rem)] [touch-action:pan-y]"
        onPointerDownCapture={swipeToReply}
        {...longPressHandlers}
      >
        <div
          className={`relative overflow-hidden rounded-bubble [-webkit-touch-callout:none] [@media(hover:none)]:select-none ${corner} ${
            mine ? "bg-own" : "bg-surface"
          } ${props.isTarget ? "shadow-[0_0_0_2px_var(--accent)]" : mine ? "" : "shadow-[inset_0_0_0_1px_var(--line)]"}`}
        >
          <span className="sr-only">{authorLabel} </span>
          {hasSenderName && sender && <SenderName sender={sender} />}
          {"forwarded" in body && body.forwarded && <ForwardedLabel from={body.forwarded} me={me} />}
          {target !== undefined && (
            <div className={body.type === "text" ? quoteClasses.textFrame : ""}>
              <div className="w-0 min-w-full">
                <Quote
                  conversation={conversation}
                  item={item}
                  target={target}
                  fallback={<p className={quoteClasses.box} />}
                />
              </div>
            </div>
          )}
          <BubbleContent
            conversation={conversation}
            item={status === "failed" && isClosedForSending(props.participation) ? withoutUpload(item) : item}
            members={people?.members}
            time={[item.starred && "★", edited, time].filter(Boolean).join(" ")}
            description={`${authorLabel} ${describeMessage(body, t)}, ${time}`}
            isExpanded={props.isExpanded}
            onOpen={() => actions.openImage(item)}
            onDelete={() => actions.askToDelete(item)}
            onExpand={() => actions.expandText(item.key)}
          />
          <span
            className={`pointer-events-none absolute bottom-1.5 flex items-center gap-1 text-xs tabular-nums ${isRtl ? "left-3" : "right-3"} ${
              isOverImage
                ? "mr-[-2px] mb-0.5 rounded-full bg-black/60 px-2 py-px text-white [--muted:#fff] [--read:#9ccbff]"
                : "text-muted"
            }`}
          >
            {item.starred && <span role="img" aria-label={t("messages.starred")} className="i-ph-star-fill" />}
            {edited && <span>{edited}</span>}
            <time dateTime={new Date(at).toISOString()}>{time}</time>
            {mine && <MessageTicks status={item.edit ? "sending" : status} />}
          </span>
        </div>
        {hasMenu && (
          <IconButton
            icon="i-ph-dots-three-vertical-bold"
            label={t("messages.options", { time })}
            aria-haspopup="menu"
            data-message-menu=""
            tabIndex={props.isTabStop ? 0 : -1}
            className={`absolute top-[-4px] text-muted opacity-0 focus-visible:opacity-100 group-hover:opacity-100 [@media(hover:none)]:pointer-events-none ${
              mine ? "right-full" : "left-full"
            }`}
            onClick={(event) => actions.openMenu(item, event.currentTarget.getBoundingClientRect())}
          />
        )}
      </div>
      {item.edit && item.edit !== "sending" && <FailedEdit conversation={conversation} item={item} error={item.edit} />}
      {(item.reactions ?? item.ownReaction) && (
        <ReactionPills
          conversation={conversation}
          item={item}
          isTabStop={props.isTabStop}
          onShowReactors={() => actions.showReactors(item)}
          fallback={<div className="h-6" />}
        />
      )}
      {status === "failed" && cid && (
        <FailedMessageActions
          cid={cid}
          error={item.error}
          participation={props.participation}
          onDelete={() => actions.askToDelete(item)}
        />
      )}
    </div>
  );
}

type ObjectValue = Record<string, unknown>;
const isObjectValue = (value: unknown): value is ObjectValue => typeof value === "object" && value !== null;

/** Structural equality of plain data; functions and other values are compared by identity. */
const isDeepEqual = (a: unknown, b: unknown): boolean => {
  if (Object.is(a, b)) return true;
  if (!isObjectValue(a) || !isObjectValue(b)) return false;
  const keys = Object.keys(a);
  return keys.length === Object.keys(b).length && keys.every((key) => isDeepEqual(a[key], b[key]));
};

/**
 * Compares props deeply: placement and sender are computed at each render of the list, and the items of a longer chat
 * window are new objects. So a bubble re-renders only if what it shows has changed.
 */
export const Bubble = memo(BubbleView, isDeepEqual);
