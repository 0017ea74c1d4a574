import { useContext, useEffect, useLayoutEffect, useMemo, useRef, useState } from "react";
import { useTranslation } from "react-i18next";
import { lateLayer } from "#components/layout/lazy-component.tsx";
import type { ConversationId } from "#contract/ids.ts";
import { stopPlaying } from "#features/chat/attachments/stop-playback.ts";
import { useCover } from "#features/chat/composer/composer-overlay.ts";
import type { BubbleDeeds } from "#features/chat/message/bubble.tsx";
import type { Standing } from "#features/chat/message/failed-reason.ts";
import { hasDeeds } from "#features/chat/message/message-equality.ts";
import { estimateHeight, type Placement, placementOf } from "#features/chat/message/message-layout.ts";
import type { Deed } from "#features/chat/message/message-menu.tsx";
import type { ChatPeople } from "#features/chat/message/senders.ts";
import { FoundMessage } from "#features/chat/search/search-highlight.tsx";
import { formatDayHeading } from "#i18n/relative-date.ts";
import { useLanguage } from "#i18n/setup.ts";
import { useSession } from "#lib/session/session.ts";
import type { ChatAround } from "#sync/hooks/use-chat-history.ts";
import type { ChatItem, ChatView } from "#sync/hooks/use-live-query.ts";
import { DayHeading } from "./day-heading.tsx";
import { NewestButton } from "./jump-to-latest.tsx";
import { focusMenu, keyBeside, moveBetweenMenus } from "./keyboard-navigation.ts";
import { ListTop } from "./list-top.tsx";
import { MessageRow } from "./message-row.tsx";
import { topPx, useHeldList } from "./use-anchored-list.ts";
import { usePages } from "./use-infinite-scroll.ts";
import { useReading } from "./use-read-receipts.ts";

const MessageDeeds = lateLayer(() => import("#features/chat/message/message-menu.tsx"));
const Viewer = lateLayer(() => import("#features/chat/attachments/image-viewer.tsx"));

const bubbleEstimatePx = 56;
const narrowPx = 360; // the list's width before it is known
const highlightMs = 3_000;

type MessageListProps = {
  conversation: ConversationId;
  /** The chat itself, or a look at its past, which has an end towards the present too. */
  chat: ChatView | ChatAround;
  people: ChatPeople;
  standing: Standing;
  /** The place of a found message to bring into view and mark. */
  target: number | undefined;
  onTargetShown: () => void;
  /** Leads from a look at the past to the newest messages. */
  onNewest: () => void;
  /** False while something covers the list: what is not seen is not read. */
  isShown: boolean;
};

/** The messages, newest at the bottom and held there; drawn only where one looks. */
export function MessageList({ conversation, chat, people, target, isShown, ...props }: MessageListProps) {
  const { standing, onTargetShown, onNewest } = props;
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
    placementOf(item, itemAt(index + 1), people.members && { older: itemAt(index - 1) });
  const targetIndex = target === undefined ? -1 : count - 1 - items.findIndex((item) => item.seq === target);
  const hasTarget = targetIndex >= 0 && targetIndex < count;
  const targetKey = hasTarget ? itemAt(targetIndex)?.key : undefined;
  // What the reader made longer stays so, however far they scroll.
  const [openKeys, setOpenKeys] = useState<ReadonlySet<string>>(new Set());
  const [deed, setDeed] = useState<Deed>();
  const [viewedKey, setViewedKey] = useState<string>();
  useCover(viewedKey !== undefined || deed?.step === "forward" || deed?.step === "receipts");
  const deeds = useMemo<BubbleDeeds>(
    () => ({
      openMenu: (item, anchor) => setDeed({ item, anchor, step: "menu" }),
      openPicture: ({ key }) => setViewedKey(key),
      unfold: (key) => setOpenKeys((before) => new Set(before).add(key)),
    }),
    [],
  );
  const heightOf = (item: ChatItem, placement: Placement): number =>
    estimateHeight(item, placement, scroller.current?.clientWidth ?? narrowPx, openKeys.has(item.key));
  useEffect(() => stopPlaying, []);
  const { virtualizer, isAtEnd, goTo, onScroll } = useHeldList({
    scroller,
    count,
    isPast: past !== undefined,
    hasNewer,
    sizeOf: (index) => {
      const item = itemAt(index);
      return item ? heightOf(item, placeAt(item, index)) : bubbleEstimatePx;
    },
    keyOf: (index) => itemAt(index)?.key ?? index,
    startPx: () => (hasTarget ? targetIndex * bubbleEstimatePx : topPx + count * bubbleEstimatePx),
  });
  const rows = virtualizer.getVirtualItems();

  const loadFailed = people.members ? "groups.chat.loadFailed" : "chat.loadFailed";
  const [reachOlder, isStuck] = usePages(isShown && hasOlder && !chat.loading, chat.loadOlder, loadFailed);
  const [reachNewer] = usePages(isShown && hasNewer && !chat.loading, past?.loadNewer, loadFailed);
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

  const foundSeq = useContext(FoundMessage)?.seq;
  const [highlighted, setHighlighted] = useState<number>();
  useEffect(() => {
    if (!hasTarget) return;
    goTo(targetIndex);
    // Who walks from one found message to the next keeps the focus where they do it.
    if (document.activeElement === document.body) {
      scroller.current?.querySelector("ol")?.focus({ preventScroll: true });
    }
    setHighlighted(target);
    if (targetKey !== undefined) deeds.unfold(targetKey); // what was found may stand far down in it
    onTargetShown();
  }, [target, hasTarget, targetIndex, targetKey, onTargetShown, goTo, deeds]);
  useEffect(() => {
    if (highlighted === undefined) return;
    const timer = setTimeout(() => setHighlighted(undefined), highlightMs);
    return () => clearTimeout(timer);
  }, [highlighted]);

  // Who read on from the past up to the newest message is in the present.
  const hasCaughtUp = past !== undefined && !hasNewer && isAtEnd;
  useEffect(() => {
    if (hasCaughtUp) onNewest();
  }, [hasCaughtUp, onNewest]);

  const unseen = useReading(conversation, items, isShown && isAtEnd && !past);
  const topIndex = virtualizer.range?.startIndex ?? 0;
  // At the beginning the heading of the first day says it already.
  const topItem = topIndex > 0 || hasOlder ? itemAt(topIndex) : undefined;
  // One stop of the tab key among all the messages: where the focus was, else the newest that is drawn.
  const [activeKey, setActiveKey] = useState<string>();
  const isStop = (index: number) => hasDeeds(itemAt(index)?.body ?? { type: "deleted" });
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
    if (!(document.activeElement instanceof HTMLTextAreaElement)) focusMenu(list, doneKey.current.key);
    doneKey.current = undefined;
  }, [deed]);
  const stepDeed = (step: Deed["step"]) => setDeed(deed && { ...deed, step });
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
            isStuck={isStuck}
            height={topPx}
            firstAt={itemAt(0)?.at}
          />
          <ol
            ref={virtualizer.containerRef}
            // biome-ignore lint/a11y/noNoninteractiveTabindex: the keyboard scrolls what can be focused
            tabIndex={0}
            aria-label={t("chat.messages", { name: people.name })}
            className="relative -outline-offset-3"
            onKeyDown={moveBetweenMenus}
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
                  <MessageRow
                    conversation={conversation}
                    item={item}
                    me={me}
                    people={people}
                    placement={placement}
                    isTarget={item.seq !== undefined && (item.seq === highlighted || item.seq === foundSeq)}
                    isOpen={openKeys.has(item.key)}
                    standing={standing}
                    isTabStop={key === tabKey}
                    deeds={deeds}
                    roomPx={() => heightOf(item, { ...placement, endsDay: false })}
                  />
                  {placement.endsDay && newer && <DayHeading at={newer.at} />}
                </li>
              );
            })}
          </ol>
        </div>
      </div>
      {(!isAtEnd || hasNewer) && (
        <NewestButton count={past ? 0 : unseen} onClick={() => (past ? onNewest() : virtualizer.scrollToEnd())} />
      )}
      {deed && (
        <MessageDeeds
          conversation={conversation}
          me={me}
          people={people}
          deed={{ ...deed, item: items.find(({ key }) => key === deed.item.key) ?? deed.item }}
          onStep={stepDeed}
          onClose={() => setDeed(undefined)}
          onDone={(how) => {
            const list = scroller.current?.querySelector("ol");
            const { key } = deed.item;
            doneKey.current = { key: how === "deleted" && list ? keyBeside(list, key) : key };
          }}
        />
      )}
      {viewedKey !== undefined && (
        <Viewer
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
