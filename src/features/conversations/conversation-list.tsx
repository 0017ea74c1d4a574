import { useVirtualizer } from "@tanstack/react-virtual";
import { useEffect, useRef, useState } from "react";
import { Link } from "react-router";
import { EmptyState } from "../../components/empty-state";
import { PaneSpinner } from "../../components/pane-spinner";
import { useT } from "../../i18n/setup";
import { isStill, useAppearance } from "../../lib/appearance";
import { type ConversationListItem, useConversations } from "../../sync/hooks";
import { ConversationRow } from "./conversation-row";
import type { ConversationDeeds } from "./use-conversation-deeds";

const rowRem = 4.75;
const pageRows = 100;
const nearEndRows = 20;
const enterRowsMax = 12;
const enterWindowMs = 1_000;

/** The entries come up one after another the first time the list shows, not at every return to it. */
let hasEntered = false;

const rowPx = (): number => rowRem * Number.parseFloat(getComputedStyle(document.documentElement).fontSize);

function NoConversations() {
  const t = useT();
  return (
    <EmptyState
      icon="i-ph-chats-circle"
      title={t("masolo.emptyTitle")}
      body={t("masolo.emptyBody")}
      action={
        <span className="grid gap-3">
          <Link
            to="/app/contacts"
            className="inline-flex min-h-12 items-center justify-center rounded-card bg-accent px-5 font-semibold text-on-accent hover:bg-accent-hover"
          >
            {t("masolo.emptyContacts")}
          </Link>
          <Link
            to="/app/senga"
            className="inline-flex min-h-12 items-center justify-center rounded-card border border-line px-5 font-semibold hover:bg-raised"
          >
            {t("masolo.emptySenga")}
          </Link>
        </span>
      }
    />
  );
}

/** The live list of conversations: the whole of /app on a phone, the left pane beside a chat on a wide screen. */
export function ConversationList({ deeds }: { deeds: ConversationDeeds }) {
  const [limit, setLimit] = useState(pageRows);
  const items = useConversations(limit);
  const { text } = useAppearance();

  if (items === undefined) return <PaneSpinner />;
  if (items.length === 0) return <NoConversations />;
  const showMore = () => {
    if (items.length === limit) setLimit(limit + pageRows);
  };
  // Rows of another text size have another height.
  return <Rows key={text} items={items} deeds={deeds} onNearEnd={showMore} />;
}

type RowsProps = {
  items: ConversationListItem[];
  deeds: ConversationDeeds;
  onNearEnd: () => void;
};

function Rows({ items, deeds, onNearEnd }: RowsProps) {
  const t = useT();
  const scroller = useRef<HTMLDivElement>(null);
  const [size] = useState(rowPx);
  const [entering, setEntering] = useState(() => !hasEntered && !isStill());
  const virtualizer = useVirtualizer({
    count: items.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => size,
    getItemKey: (index) => items[index]?.id ?? index,
    overscan: 6,
    directDomUpdates: true,
  });
  const rows = virtualizer.getVirtualItems();

  useEffect(() => {
    hasEntered = true;
    const timer = setTimeout(() => setEntering(false), enterWindowMs);
    return () => clearTimeout(timer);
  }, []);

  const lastIndex = rows.at(-1)?.index ?? 0;
  useEffect(() => {
    if (lastIndex >= items.length - nearEndRows) onNearEnd();
  }, [lastIndex, items.length, onNearEnd]);

  return (
    <div ref={scroller} className="min-h-0 flex-1 overflow-y-auto overscroll-contain">
      <ul ref={virtualizer.containerRef} aria-label={t("masolo.list")} className="relative">
        {rows.map(({ key, index }) => {
          const item = items[index];
          return (
            item && (
              <li
                key={key}
                ref={virtualizer.measureElement}
                data-index={index}
                aria-setsize={items.length}
                aria-posinset={index + 1}
                className="absolute inset-x-0 top-0 border-b border-line"
                style={{ height: size }}
              >
                <ConversationRow
                  item={item}
                  enterIndex={entering && index < enterRowsMax ? index : undefined}
                  deeds={deeds}
                />
              </li>
            )
          );
        })}
      </ul>
    </div>
  );
}
