import { useVirtualizer } from "@tanstack/react-virtual";
import { useEffect, useLayoutEffect, useRef, useState } from "react";
import type { ConversationId } from "../../../contract/ids";
import { formatDayHeading } from "../../i18n/relative-date";
import { useLanguage, useT } from "../../i18n/setup";
import { markViewed } from "../../sync/actions";
import type { ChatItem, ChatView } from "../../sync/hooks";
import { Announcer } from "./announcer";
import { Bubble } from "./bubble";
import { ListTop } from "./list-top";
import { NewestButton } from "./newest-button";
import { placementOf } from "./time-line";
import { useIsDocumentVisible } from "./use-document-visible";
import { useOlderPages } from "./use-older-pages";

const bubbleEstimatePx = 56;
const topPx = 56; // room above the oldest message for what is said there
const endThresholdPx = 80; // this close to the newest message counts as reading it
const highlightMs = 3_000;

type MessageListProps = {
  conversation: ConversationId;
  chat: ChatView;
  name: string;
  /** A found message to bring into view and mark; the same one again is another object. */
  target: { seq: number } | undefined;
  onTargetGone: () => void;
  /** False while something covers the list: what is not seen is not read. */
  isShown: boolean;
};

const isNearEnd = ({ scrollHeight, scrollTop, clientHeight }: Element): boolean =>
  scrollHeight - scrollTop - clientHeight <= endThresholdPx;

const newestSeq = (items: ChatItem[]): number => items.find((item) => item.seq !== undefined)?.seq ?? 0;

/** The messages, newest at the bottom and held there; drawn only where one looks. */
export function MessageList({ conversation, chat, name, target, onTargetGone, isShown }: MessageListProps) {
  const t = useT();
  const language = useLanguage();
  const { items, hasOlder } = chat;
  const count = items.length;
  const scroller = useRef<HTMLDivElement>(null);
  // The hook counts from the newest, the screen from the oldest.
  const itemAt = (index: number): ChatItem | undefined => items[count - 1 - index];
  const virtualizer = useVirtualizer({
    count,
    getScrollElement: () => scroller.current,
    estimateSize: () => bubbleEstimatePx,
    // Starts at the newest, so that the oldest ones loaded are not drawn for nothing first.
    initialOffset: () => topPx + count * bubbleEstimatePx,
    getItemKey: (index) => itemAt(index)?.key ?? index,
    anchorTo: "end",
    followOnAppend: true,
    scrollEndThreshold: endThresholdPx,
    paddingStart: topPx,
    paddingEnd: 12,
    overscan: 8,
    directDomUpdates: true,
  });
  const rows = virtualizer.getVirtualItems();

  const [isAtEnd, setAtEnd] = useState(true);
  const isAtEndRef = useRef(true);
  isAtEndRef.current = isAtEnd;
  const hasItems = count > 0;

  useLayoutEffect(() => {
    if (hasItems) virtualizer.scrollToEnd();
  }, [virtualizer, hasItems]);

  // A keyboard or a growing composer makes the list shorter: who was at the end stays there.
  useEffect(() => {
    const element = scroller.current;
    if (!element) return;
    const observer = new ResizeObserver(() => {
      if (isAtEndRef.current) virtualizer.scrollToEnd();
    });
    observer.observe(element);
    return () => observer.disconnect();
  }, [virtualizer]);

  const [reachOlder, isStuck] = useOlderPages(chat, isShown);
  const firstIndex = rows[0]?.index;
  useEffect(() => reachOlder(firstIndex), [reachOlder, firstIndex]);

  // What this person just wrote is where they look next.
  const newest = items[0];
  const ownNewKey = newest?.mine && newest.status === "sending" ? newest.key : undefined;
  const isOwnNew = useRef(ownNewKey);
  useLayoutEffect(() => {
    if (ownNewKey !== undefined && isOwnNew.current !== ownNewKey) virtualizer.scrollToEnd();
    isOwnNew.current = ownNewKey;
  }, [virtualizer, ownNewKey]);

  const [highlighted, setHighlighted] = useState<number>();
  useEffect(() => {
    if (highlighted === undefined) return;
    const timer = setTimeout(() => setHighlighted(undefined), highlightMs);
    return () => clearTimeout(timer);
  }, [highlighted]);
  const targetIndex = target ? count - 1 - items.findIndex((item) => item.seq === target.seq) : -1;
  const isTargetHere = targetIndex >= 0 && targetIndex < count;
  useEffect(() => {
    if (!target) return;
    if (isTargetHere) {
      setAtEnd(false);
      virtualizer.scrollToIndex(targetIndex, { align: "center" });
      setHighlighted(target.seq);
      scroller.current?.querySelector("ol")?.focus({ preventScroll: true });
      onTargetGone();
    } else if (hasOlder) reachOlder(0);
    else onTargetGone();
  }, [target, isTargetHere, targetIndex, hasOlder, reachOlder, onTargetGone, virtualizer]);

  const isVisible = useIsDocumentVisible();
  const isReading = isVisible && isShown && isAtEnd;
  const headSeq = newestSeq(items);
  const [seenSeq, setSeenSeq] = useState(headSeq);
  useEffect(() => {
    if (!isReading || headSeq === 0) return;
    setSeenSeq(headSeq);
    markViewed(conversation, headSeq);
  }, [conversation, isReading, headSeq]);
  let unseen = 0;
  for (const item of items) {
    if (item.seq !== undefined && item.seq <= seenSeq) break;
    if (!item.mine) unseen++;
  }

  const topItem = itemAt(virtualizer.range?.startIndex ?? 0);
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
        onScroll={({ currentTarget }) => setAtEnd(isNearEnd(currentTarget))}
      >
        <ol
          ref={virtualizer.containerRef}
          // biome-ignore lint/a11y/noNoninteractiveTabindex: the keyboard scrolls what can be focused
          tabIndex={0}
          aria-label={t("chat.messages", { name })}
          className="relative mt-auto w-full shrink-0 outline-none"
        >
          <ListTop hasOlder={hasOlder} isLoading={chat.loading} isStuck={isStuck} height={topPx} />
          {rows.map(({ key, index }) => {
            const item = itemAt(index);
            if (!item) return null;
            const { startsDay, startsGroup, endsGroup } = placementOf(
              item,
              itemAt(index - 1),
              itemAt(index + 1),
              hasOlder,
            );
            return (
              <li key={key} ref={virtualizer.measureElement} data-index={index} className="absolute inset-x-0 top-0">
                {startsDay && (
                  <p className="py-3 text-center text-xs font-semibold text-muted">
                    {formatDayHeading(item.at, language)}
                  </p>
                )}
                <Bubble
                  kind={item.body.type}
                  text={item.body.type === "text" ? item.body.text : ""}
                  at={item.at}
                  mine={item.mine}
                  author={item.mine ? t("chat.fromYou") : t("chat.from", { name })}
                  status={item.status}
                  error={item.error}
                  cid={item.cid}
                  startsGroup={startsGroup}
                  endsGroup={endsGroup}
                  isTarget={highlighted !== undefined && item.seq === highlighted}
                />
              </li>
            );
          })}
        </ol>
      </div>
      {!isAtEnd && <NewestButton count={unseen} onClick={() => virtualizer.scrollToEnd()} />}
      <Announcer items={items} name={name} isLoading={chat.loading} />
    </div>
  );
}
