import { useContext, useEffect, useLayoutEffect, useMemo, useRef, useState } from "react";
import { useTranslation } from "react-i18next";
import { lazyOverlay } from "#components/layout/lazy-component.tsx";
import type { ConversationId } from "#contract/ids.ts";
import { stopPlayback } from "#features/chat/attachments/stop-playback.ts";
import { useComposerOverlay } from "#features/chat/composer/composer-overlay.ts";
import type { BubbleActions } from "#features/chat/message/bubble.tsx";
import type { ChatParticipation } from "#features/chat/message/failed-reason.ts";
import { hasMessageMenu } from "#features/chat/message/message-equality.ts";
import {
  estimateMessageHeight,
  type MessagePlacement,
  toMessagePlacement,
} from "#features/chat/message/message-layout.ts";
import type { MessageAction } from "#features/chat/message/message-menu.tsx";
import type { ChatPeople } from "#features/chat/message/senders.ts";
import { ActiveSearchResultContext } from "#features/chat/search/search-highlight.tsx";
import { formatDayHeading } from "#i18n/relative-date.ts";
import { useLanguage } from "#i18n/setup.ts";
import { useSession } from "#lib/session/session.ts";
import type { ChatHistory } from "#sync/hooks/use-chat-history.ts";
import type { ChatItem, ChatView } from "#sync/hooks/use-live-query.ts";
import { DayHeading } from "./day-heading.tsx";
import { JumpToLatestButton } from "./jump-to-latest.tsx";
import { findAdjacentMenuKey, focusMessageMenu, handleMenuArrowKey } from "./keyboard-navigation.ts";
import { ListTop } from "./list-top.tsx";
import { MessageListRow } from "./message-row.tsx";
import { listTopPx, useAnchoredList } from "./use-anchored-list.ts";
import { useInfiniteScroll } from "./use-infinite-scroll.ts";
import { useReadReceipts } from "./use-read-receipts.ts";

const MessageMenu = lazyOverlay(() => import("#features/chat/message/message-menu.tsx"));
const ImageViewer = lazyOverlay(() => import("#features/chat/attachments/image-viewer.tsx"));

const defaultRowPx = 56;
const defaultListPx = 360; // the list's width before it is known
const highlightMs = 3_000;

type MessageListProps = {
  conversation: ConversationId;
  /** The chat itself, or a look at its past, which has an end towards the present too. */
  chat: ChatView | ChatHistory;
  people: ChatPeople;
  participation: ChatParticipation;
  /** The place of a found message to bring into view and mark. */
  targetSeq: number | undefined;
  onTargetShown: () => void;
  /** Leads from a look at the past to the newest messages. */
  onJumpToLatest: () => void;
  /** False while something covers the list: what is not seen is not read. */
  isVisible: boolean;
};

/** The messages, newest at the bottom and held there; drawn only where one looks. */
export function MessageList({ conversation, chat, people, targetSeq, isVisible, ...props }: MessageListProps) {
  const { participation, onTargetShown, onJumpToLatest } = props;
  const { t } = useTranslation();
  const language = useLanguage();
  const me = useSession()?.userId ?? "";
  const { items, hasOlder } = chat;
  const past = "hasNewer" in chat ? chat : undefined;
  const hasNewer = past?.hasNewer ?? false;
  const count = items.length;
  const scroller = useRef<HTMLDivElement>(null);
  // The items count from the newest, the screen from the oldest.
  const itemAt = (index: number): ChatItem | undefined => items[count - 1 - index];
  const placeAt = (item: ChatItem, index: number) =>
    toMessagePlacement(item, itemAt(index + 1), people.members && { older: itemAt(index - 1) });
  const targetIndex = targetSeq === undefined ? -1 : count - 1 - items.findIndex((item) => item.seq === targetSeq);
  const hasTarget = targetIndex >= 0 && targetIndex < count;
  const targetKey = hasTarget ? itemAt(targetIndex)?.key : undefined;
  // What the reader made longer stays so, however far they scroll.
  const [openKeys, setOpenKeys] = useState<ReadonlySet<string>>(new Set());
  const [deed, setDeed] = useState<MessageAction>();
  const [viewedKey, setViewedKey] = useState<string>();
  useComposerOverlay(viewedKey !== undefined || deed?.step === "forward" || deed?.step === "receipts");
  const deeds = useMemo<BubbleActions>(
    () => ({
      openMenu: (item, anchor) => setDeed({ item, anchor, step: "menu" }),
      openImage: ({ key }) => setViewedKey(key),
      expandText: (key) => setOpenKeys((before) => new Set(before).add(key)),
    }),
    [],
  );
  const heightOf = (item: ChatItem, placement: MessagePlacement): number =>
    estimateMessageHeight(item, placement, scroller.current?.clientWidth ?? defaultListPx, openKeys.has(item.key));
  useEffect(() => stopPlayback, []);
  const { virtualizer, isAtEnd, goTo, onScroll } = useAnchoredList({
    scroller,
    count,
    isHistoryView: past !== undefined,
    hasNewer,
    estimateSize: (index) => {
      const item = itemAt(index);
      return item ? heightOf(item, placeAt(item, index)) : defaultRowPx;
    },
    getKey: (index) => itemAt(index)?.key ?? index,
    getInitialOffset: () => (hasTarget ? targetIndex * defaultRowPx : listTopPx + count * defaultRowPx),
  });
  const rows = virtualizer.getVirtualItems();

  const loadFailed = people.members ? "groups.chat.loadFailed" : "chat.loadFailed";
  const [reachOlder, isStuck] = useInfiniteScroll(isVisible && hasOlder && !chat.loading, chat.loadOlder, loadFailed);
  const [reachNewer] = useInfiniteScroll(isVisible && hasNewer && !chat.loading, past?.loadNewer, loadFailed);
  const firstIndex = rows[0]?.index;
  const lastIndex = rows.at(-1)?.index;
  useEffect(() => reachOlder(firstIndex), [reachOlder, firstIndex]);
  useEffect(
    () => reachNewer(lastIndex === undefined ? undefined : count - 1 - lastIndex),
    [reachNewer, lastIndex, count],
  );

  // What this person just wrote is where they look next.
  const newest = items[0];
  const writtenKey = newest?.mine && newest.status === "sending" ? newest.key : undefined;
  const lastWrittenKey = useRef(writtenKey);
  useLayoutEffect(() => {
    if (writtenKey !== undefined && lastWrittenKey.current !== writtenKey) virtualizer.scrollToEnd();
    lastWrittenKey.current = writtenKey;
  }, [virtualizer, writtenKey]);

  const foundSeq = useContext(ActiveSearchResultContext)?.seq;
  const [highlighted, setHighlighted] = useState<number>();
  useEffect(() => {
    if (!hasTarget) return;
    goTo(targetIndex);
    // Who walks from one found message to the next keeps the focus where they do it.
    if (document.activeElement === document.body) {
      scroller.current?.querySelector("ol")?.focus({ preventScroll: true });
    }
    setHighlighted(targetSeq);
    if (targetKey !== undefined) deeds.expandText(targetKey); // what was found may stand far down in it
    onTargetShown();
  }, [targetSeq, hasTarget, targetIndex, targetKey, onTargetShown, goTo, deeds]);
  useEffect(() => {
    if (highlighted === undefined) return;
    const timer = setTimeout(() => setHighlighted(undefined), highlightMs);
    return () => clearTimeout(timer);
  }, [highlighted]);

  // Who read on from the past up to the newest message is in the present.
  const hasCaughtUp = past !== undefined && !hasNewer && isAtEnd;
  useEffect(() => {
    if (hasCaughtUp) onJumpToLatest();
  }, [hasCaughtUp, onJumpToLatest]);

  const unseen = useReadReceipts(conversation, items, isVisible && isAtEnd && !past);
  const topIndex = virtualizer.range?.startIndex ?? 0;
  // At the beginning the heading of the first day says it already.
  const topItem = topIndex > 0 || hasOlder ? itemAt(topIndex) : undefined;
  // One stop of the tab key among all the messages: where the focus was, else the newest that is drawn.
  const [activeKey, setActiveKey] = useState<string>();
  const isStop = (index: number) => hasMessageMenu(itemAt(index)?.body ?? { type: "deleted" });
  const tabKey = rows.some(({ key }) => key === activeKey)
    ? activeKey
    : rows.filter(({ index }) => isStop(index)).at(-1)?.key;
  // A message that had the focus may be scrolled away: the keyboard goes on in the list, not at the page's beginning.
  const isActiveGone = activeKey !== undefined && tabKey !== activeKey;
  useEffect(() => {
    if (isActiveGone && document.activeElement === document.body)
      scroller.current?.querySelector("ol")?.focus({ preventScroll: true });
  }, [isActiveGone]);
  // What was done with a message ends at its place, however its menu was opened; only who was writing goes on writing.
  const doneKey = useRef<{ key: string | undefined }>(undefined);
  useEffect(() => {
    const list = scroller.current?.querySelector("ol");
    if (deed || !doneKey.current || !list) return;
    if (!(document.activeElement instanceof HTMLTextAreaElement)) focusMessageMenu(list, doneKey.current.key);
    doneKey.current = undefined;
  }, [deed]);
  const stepDeed = (step: MessageAction["step"]) => setDeed(deed && { ...deed, step });
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
            isWaitingToRetry={isStuck}
            height={listTopPx}
            oldestAt={itemAt(0)?.at}
          />
          <ol
            ref={virtualizer.containerRef}
            // biome-ignore lint/a11y/noNoninteractiveTabindex: the keyboard scrolls what can be focused
            tabIndex={0}
            aria-label={t("chat.messages", { name: people.name })}
            className="relative -outline-offset-3"
            onKeyDown={handleMenuArrowKey}
            onFocus={({ target }) => setActiveKey(target.closest("li")?.dataset["key"])}
          >
            {rows.map(({ key, index }) => {
              const item = itemAt(index);
              if (!item) return null;
              const newer = itemAt(index + 1);
              const placement = placeAt(item, index);
              return (
                <li
                  key={key}
                  ref={virtualizer.measureElement}
                  data-index={index}
                  data-key={item.key}
                  className="absolute inset-x-0 top-0"
                >
                  <MessageListRow
                    conversation={conversation}
                    item={item}
                    me={me}
                    people={people}
                    placement={placement}
                    isTarget={item.seq !== undefined && (item.seq === highlighted || item.seq === foundSeq)}
                    isExpanded={openKeys.has(item.key)}
                    participation={participation}
                    isTabStop={key === tabKey}
                    actions={deeds}
                    estimateHeightPx={() => heightOf(item, { ...placement, endsDay: false })}
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
          count={past ? 0 : unseen}
          onClick={() => (past ? onJumpToLatest() : virtualizer.scrollToEnd())}
        />
      )}
      {deed && (
        <MessageMenu
          conversation={conversation}
          me={me}
          people={people}
          action={{ ...deed, item: items.find(({ key }) => key === deed.item.key) ?? deed.item }}
          onStep={stepDeed}
          onClose={() => setDeed(undefined)}
          onCompleted={(how) => {
            const list = scroller.current?.querySelector("ol");
            const { key } = deed.item;
            doneKey.current = { key: how === "deleted" && list ? findAdjacentMenuKey(list, key) : key };
          }}
        />
      )}
      {viewedKey !== undefined && (
        <ImageViewer
          conversation={conversation}
          items={items}
          startKey={viewedKey}
          people={people}
          onClose={() => setViewedKey(undefined)}
        />
      )}
    </div>
  );
}
