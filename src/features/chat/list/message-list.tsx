import { type ReactNode, useContext, useEffect, useLayoutEffect, useMemo, useRef, useState } from "react";
import { useTranslation } from "react-i18next";
import { keepFocusOnRightClick } from "#components/focus/keep-focus-on-right-click.ts";
import { composerCover, useLayer } from "#components/overlays/cover.ts";
import { lazyOverlay } from "#components/overlays/lazy-overlay.tsx";
import type { ConversationId } from "#contract/ids.ts";
import type { UnseenMentions } from "#features/chat/mentions/unseen-mentions.tsx";
import type { BubbleActions } from "#features/chat/message/bubble.tsx";
import type { ChatParticipation } from "#features/chat/message/chat-participation.ts";
import type { MessageAction } from "#features/chat/message/menu/message-action.ts";
import {
  estimateMessageHeight,
  type MessagePlacement,
  toMessagePlacement,
} from "#features/chat/message/message-layout.ts";
import type { ChatPeople } from "#features/chat/message/senders.ts";
import { ActiveSearchResultContext } from "#features/chat/search/search-highlight.tsx";
import { formatDayHeading } from "#i18n/relative-date.ts";
import { useLanguage } from "#i18n/setup.ts";
import { useSession } from "#lib/session/use-session.ts";
import type { ChatHistory, ChatItem, ChatView } from "#sync/hooks/use-chat.ts";
import { DayHeading } from "./day-heading.tsx";
import { JumpToLatestButton } from "./jump-to-latest.tsx";
import { handleMenuArrowKey } from "./keyboard-navigation.ts";
import { ListTop } from "./list-top.tsx";
import { MessageListRow } from "./message-row.tsx";
import { listTopPx, useAnchoredList } from "./use-anchored-list.ts";
import { useInfiniteScroll } from "./use-infinite-scroll.ts";
import { useMessageFocus } from "./use-message-focus.ts";
import { useIsSeen, useReadReceipts } from "./use-read-receipts.ts";

const MessageActions = lazyOverlay(() => import("#features/chat/message/menu/message-actions.tsx"));
const ImageViewer = lazyOverlay(() => import("#features/chat/attachments/image-viewer.tsx"));

const defaultRowPx = 56;
const highlightMs = 3_000;
const defaultListPx = 360; // assumed width before the list is measured
const noAnchor = { top: 0, bottom: 0, left: 0, right: 0 };
/** Steps of an action that cover the chat. */
const sheetSteps: readonly MessageAction["step"][] = ["forward", "receipts", "reactors", "emoji"];

type MessageListProps = {
  conversation: ConversationId;
  /** Newest messages of the chat, or a history window that also has a newer end. */
  chat: ChatView | ChatHistory;
  people: ChatPeople;
  participation: ChatParticipation;
  /** `seq` of a message to scroll to and highlight. */
  targetSeq: number | undefined;
  onTargetShown: () => void;
  /** Leaves the history window for the newest messages. */
  onJumpToLatest: () => void;
  /** Mentions of this user that were not shown yet; only in a group. */
  mentions: UnseenMentions | undefined;
  onJumpToMessage: (seq: number) => void;
  /** Content over the lower edge of the list. */
  overlay: ReactNode;
  /** False while the search covers the list. */
  isVisible: boolean;
};

/** Virtual message list, anchored to the newest message at the bottom. */
export function MessageList({ conversation, chat, people, targetSeq, isVisible, ...props }: MessageListProps) {
  const { participation, onTargetShown, onJumpToLatest, mentions } = props;
  const { t } = useTranslation();
  const language = useLanguage();
  const me = useSession()?.userId ?? "";
  const { items, hasOlder } = chat;
  const history = "hasNewer" in chat ? chat : undefined;
  const hasNewer = history?.hasNewer ?? false;
  const count = items.length;
  const scroller = useRef<HTMLDivElement>(null);
  // `items` is sorted newest first, the rows oldest first.
  const itemAt = (index: number): ChatItem | undefined => items[count - 1 - index];
  const toPlacement = (item: ChatItem, index: number) =>
    toMessagePlacement(item, itemAt(index + 1), people.members && { older: itemAt(index - 1) });
  const targetIndex = targetSeq === undefined ? -1 : count - 1 - items.findIndex((item) => item.seq === targetSeq);
  const hasTarget = targetIndex >= 0 && targetIndex < count;
  const targetKey = hasTarget ? itemAt(targetIndex)?.key : undefined;
  // Expanded messages stay expanded when they are scrolled out of view.
  const [expandedKeys, setExpandedKeys] = useState<ReadonlySet<string>>(new Set());
  const expandingKey = useRef<string>(undefined);
  const [action, setAction] = useState<MessageAction>();
  const [viewedImageKey, setViewedImageKey] = useState<string>();
  useLayer(composerCover, viewedImageKey !== undefined || (action !== undefined && sheetSteps.includes(action.step)));
  const actions = useMemo<BubbleActions>(
    () => ({
      openMenu: (item, anchor) => setAction({ item, anchor, step: "menu" }),
      openImage: ({ key }) => setViewedImageKey(key),
      showReactors: (item) => setAction({ item, anchor: noAnchor, step: "reactors" }),
      askToDelete: (item) => setAction({ item, anchor: noAnchor, step: "delete" }),
      expandText: (key) => {
        expandingKey.current = key;
        setExpandedKeys((before) => new Set(before).add(key));
      },
    }),
    [],
  );
  const estimateHeight = (item: ChatItem, placement: MessagePlacement): number =>
    estimateMessageHeight(item, placement, scroller.current?.clientWidth ?? defaultListPx, expandedKeys.has(item.key));
  const { virtualizer, isAtEnd, scrollToRow, detectEnd, onScroll } = useAnchoredList({
    scroller,
    count,
    isHistoryView: history !== undefined,
    hasNewer,
    estimateSize: (index) => {
      const item = itemAt(index);
      return item ? estimateHeight(item, toPlacement(item, index)) : defaultRowPx;
    },
    getKey: (index) => itemAt(index)?.key ?? index,
    isExpanding: (key) => {
      const isExpanding = key === expandingKey.current;
      if (isExpanding) expandingKey.current = undefined;
      return isExpanding;
    },
    firstRow: hasTarget ? targetIndex : undefined,
  });
  const rows = virtualizer.getVirtualItems();

  const loadFailed = people.members ? "groups.chat.loadFailed" : "chat.loadFailed";
  const [onRowsAbove, isWaitingToRetry] = useInfiniteScroll(
    isVisible && hasOlder && !chat.loading,
    chat.loadOlder,
    loadFailed,
  );
  const [onRowsBelow] = useInfiniteScroll(isVisible && hasNewer && !chat.loading, history?.loadNewer, loadFailed);
  const firstIndex = rows[0]?.index;
  const lastIndex = rows.at(-1)?.index;
  useEffect(() => onRowsAbove(firstIndex), [onRowsAbove, firstIndex]);
  useEffect(
    () => onRowsBelow(lastIndex === undefined ? undefined : count - 1 - lastIndex),
    [onRowsBelow, lastIndex, count],
  );

  // Scroll to a message that the user has just sent.
  const newest = items[0];
  const sentKey = newest?.mine && newest.status === "sending" ? newest.key : undefined;
  const lastSentKey = useRef(sentKey);
  useLayoutEffect(() => {
    if (sentKey !== undefined && lastSentKey.current !== sentKey) virtualizer.scrollToEnd();
    lastSentKey.current = sentKey;
  }, [virtualizer, sentKey]);

  const { tabKey, setActiveKey, awaitedKey, focusAfterAction } = useMessageFocus(
    scroller,
    rows,
    itemAt,
    action !== undefined,
  );

  const activeResultSeq = useContext(ActiveSearchResultContext)?.seq;
  const [highlightedSeq, setHighlightedSeq] = useState<number>();
  useEffect(() => {
    if (!hasTarget) return;
    scrollToRow(targetIndex);
    // Do not take the focus from the search panel.
    const { activeElement, body } = document;
    if (activeElement === body || scroller.current?.contains(activeElement)) awaitedKey.current = targetKey;
    setHighlightedSeq(targetSeq);
    if (targetKey !== undefined) actions.expandText(targetKey); // the match may be below the fold
    onTargetShown();
  }, [targetSeq, hasTarget, targetIndex, targetKey, onTargetShown, scrollToRow, actions, awaitedKey]);
  useEffect(() => {
    if (highlightedSeq === undefined) return;
    detectEnd();
    const timer = setTimeout(() => {
      setHighlightedSeq(undefined);
      awaitedKey.current = undefined;
    }, highlightMs);
    return () => clearTimeout(timer);
  }, [highlightedSeq, detectEnd, awaitedKey]);

  // Leave the history window at the newest message, but keep a message highlighted that was jumped to.
  const hasCaughtUp = history !== undefined && !hasNewer && isAtEnd && highlightedSeq === undefined;
  useEffect(() => {
    if (hasCaughtUp) onJumpToLatest();
  }, [hasCaughtUp, onJumpToLatest]);

  const isSeen = useIsSeen() && isVisible;
  const unseenCount = useReadReceipts(conversation, items, isSeen && isAtEnd && !history);
  const topIndex = virtualizer.range?.startIndex ?? 0;
  // At the very top, the first day heading shows the date already.
  const topItem = topIndex > 0 || hasOlder ? itemAt(topIndex) : undefined;
  const setStep = (step: MessageAction["step"]) => setAction(action && { ...action, step });
  return (
    <div className="relative flex min-h-0 flex-1 flex-col">
      {!isAtEnd && topItem && (
        <p
          aria-hidden="true"
          className="pointer-events-none absolute inset-x-0 top-2 z-1 mx-auto w-fit rounded-full border border-line bg-surface px-3 py-0.5 text-xs text-muted shadow-sm"
        >
          {formatDayHeading(topItem.at, language)}
        </p>
      )}
      <div
        ref={scroller}
        className="flex min-h-0 flex-1 flex-col overflow-y-auto overscroll-contain [overflow-anchor:none]"
        onScroll={({ currentTarget }) => onScroll(currentTarget)}
      >
        <div className="relative mt-auto shrink-0">
          <ListTop
            hasOlder={hasOlder}
            isLoading={chat.loading}
            isWaitingToRetry={isWaitingToRetry}
            height={listTopPx}
            oldestAt={itemAt(0)?.at}
          />
          <ol
            ref={virtualizer.containerRef}
            // biome-ignore lint/a11y/noNoninteractiveTabindex: the keyboard scrolls what can be focused
            tabIndex={0}
            aria-label={t("chat.messages", { name: people.name })}
            className="relative -outline-offset-3"
            onMouseDown={keepFocusOnRightClick}
            onKeyDown={handleMenuArrowKey}
            onFocus={({ target }) => setActiveKey(target.closest("li")?.dataset["key"])}
          >
            {rows.map(({ key, index }) => {
              const item = itemAt(index);
              if (!item) return null;
              const newer = itemAt(index + 1);
              const placement = toPlacement(item, index);
              return (
                <li
                  key={key}
                  ref={virtualizer.measureElement}
                  data-index={index}
                  data-key={item.key}
                  data-newest={(index === count - 1 && !hasNewer) || undefined}
                  className="absolute inset-x-0 top-0"
                >
                  <MessageListRow
                    conversation={conversation}
                    item={item}
                    me={me}
                    people={people}
                    placement={placement}
                    isTarget={item.seq !== undefined && (item.seq === highlightedSeq || item.seq === activeResultSeq)}
                    isExpanded={expandedKeys.has(item.key)}
                    participation={participation}
                    isTabStop={key === tabKey}
                    actions={actions}
                    estimateHeightPx={() => estimateHeight(item, { ...placement, endsDay: false })}
                  />
                  {placement.endsDay && newer && <DayHeading at={newer.at} />}
                </li>
              );
            })}
          </ol>
        </div>
      </div>
      {(!isAtEnd || hasNewer) && (
        <JumpToLatestButton
          count={history ? 0 : unseenCount}
          onClick={() => (history ? onJumpToLatest() : virtualizer.scrollToEnd())}
        />
      )}
      {mentions && (
        <mentions.Button
          mentions={mentions}
          shown={[itemAt(topIndex), itemAt(virtualizer.range?.endIndex ?? 0)]}
          isSeen={isSeen}
          isRaised={!isAtEnd || hasNewer}
          onJump={props.onJumpToMessage}
        />
      )}
      {props.overlay}
      {action && (
        <MessageActions
          conversation={conversation}
          me={me}
          people={people}
          action={{ ...action, item: items.find(({ key }) => key === action.item.key) ?? action.item }}
          onStep={setStep}
          onClose={() => setAction(undefined)}
          onCompleted={(how) => focusAfterAction(action.item.key, how === "deleted")}
        />
      )}
      {viewedImageKey !== undefined && (
        <ImageViewer
          conversation={conversation}
          items={items}
          startKey={viewedImageKey}
          people={people}
          onClose={() => setViewedImageKey(undefined)}
        />
      )}
    </div>
  );
}
