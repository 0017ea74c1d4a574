import { useEffect, useLayoutEffect, useRef, useState } from "react";
import { useTranslation } from "react-i18next";
import { Link } from "react-router";
import { EmptyState } from "#components/layout/empty-state.tsx";
import { PaneSpinner } from "#components/layout/pane-spinner.tsx";
import { useInterruptibleContent } from "#components/layout/use-interruptible-content.ts";
import { useVisibleRows } from "#components/layout/use-visible-rows.ts";
import { isMotionReduced, useAppearance } from "#lib/browser/appearance.ts";
import { findFirstView, reportScreenDrawn } from "#lib/browser/first-view.ts";
import { useShownLink } from "#sync/hooks/use-connection.ts";
import { type ConversationListItem, useConversations } from "#sync/hooks/use-conversations.ts";
import { useContacts } from "#sync/hooks/use-people.ts";
import { ConversationListRow } from "./conversation-row.tsx";
import type { ConversationMenu } from "./use-conversation-menu.tsx";

const rowRem = 4.75;
const pageRows = 100;
const nearEndRows = 20;
const entranceRowsMax = 12;
const entranceMaxMs = 1_000;

/** The entrance animation of the rows plays once per page load. */
let hasPlayedEntrance = false;

const measureRowPx = (): number => rowRem * Number.parseFloat(getComputedStyle(document.documentElement).fontSize);

const emptyActionClasses = "inline-flex min-h-12 items-center justify-center rounded-card px-5 font-semibold";

/** Empty state. Without contacts it leads to the people search instead of an empty contact list. */
function NoConversations() {
  const { t } = useTranslation();
  const hasContacts = (useContacts()?.length ?? 0) > 0;
  return (
    <EmptyState
      icon="i-ph-chats-circle"
      title={t("masolo.emptyTitle")}
      body={t(hasContacts ? "masolo.emptyBody" : "masolo.emptyNewcomer")}
      action={
        <span className="grid gap-3">
          {hasContacts && (
            <Link to="/app/contacts" className={`${emptyActionClasses} bg-accent text-on-accent hover:bg-accent-hover`}>
              {t("masolo.emptyContacts")}
            </Link>
          )}
          <Link
            to="/app/senga"
            className={`${emptyActionClasses} ${hasContacts ? "border border-line hover:bg-raised" : "bg-accent text-on-accent hover:bg-accent-hover"}`}
          >
            {t("masolo.emptySenga")}
          </Link>
        </span>
      }
    />
  );
}

/** The list was never loaded on this device and the server is unreachable; it loads when the connection returns. */
function ConversationsNotLoaded() {
  const { t } = useTranslation();
  return (
    <div role="status" className="my-auto">
      <EmptyState icon="i-ph-cloud-slash" title={t("masolo.loadFailed")} body={t("masolo.loadFailedBody")} />
    </div>
  );
}

/** Live conversation list: the whole screen on a phone, the left pane on a wide screen. */
export function ConversationList({ menu }: { menu: ConversationMenu }) {
  const [limit, setLimit] = useState(pageRows);
  const items = useConversations(limit);
  const { text } = useAppearance();
  const link = useShownLink();
  const hasContent = useInterruptibleContent(items !== undefined);
  const isDrawn = hasContent || link === "offline";
  useLayoutEffect(() => {
    if (isDrawn) reportScreenDrawn("list");
  }, [isDrawn]);

  if (items === undefined || !hasContent) return link === "offline" ? <ConversationsNotLoaded /> : <PaneSpinner />;
  if (items.length === 0) return <NoConversations />;
  const showMore = () => {
    if (items.length === limit) setLimit(limit + pageRows);
  };
  // Another text size changes the row height.
  return <ConversationRows key={text} items={items} menu={menu} onNearEnd={showMore} />;
}

type ConversationRowsProps = {
  items: ConversationListItem[];
  menu: ConversationMenu;
  onNearEnd: () => void;
};

function ConversationRows({ items, menu, onNearEnd }: ConversationRowsProps) {
  const { t } = useTranslation();
  const scroller = useRef<HTMLDivElement>(null);
  const [rowHeightPx] = useState(measureRowPx);
  const [isEntering, setEntering] = useState(() => !hasPlayedEntrance && !isMotionReduced() && !findFirstView());
  const rows = useVisibleRows({ scroller, count: items.length, rowHeightPx });

  useEffect(() => {
    hasPlayedEntrance = true;
    const timer = setTimeout(() => setEntering(false), entranceMaxMs);
    return () => clearTimeout(timer);
  }, []);

  useEffect(() => {
    if (rows.end > items.length - nearEndRows) onNearEnd();
  }, [rows.end, items.length, onNearEnd]);

  return (
    <div ref={scroller} className="min-h-0 flex-1 overflow-y-auto overscroll-contain">
      <ul aria-label={t("masolo.list")} className="relative" style={{ height: rows.totalHeightPx }}>
        {rows.indexes.map((index) => {
          const item = items[index];
          return (
            item && (
              <li
                key={item.id}
                aria-setsize={items.length}
                aria-posinset={index + 1}
                className="absolute inset-x-0 top-0 border-b border-line"
                style={{ height: rowHeightPx, transform: `translateY(${index * rowHeightPx}px)` }}
              >
                <ConversationListRow
                  item={item}
                  entranceIndex={isEntering && index < entranceRowsMax ? index : undefined}
                  menu={menu}
                />
              </li>
            )
          );
        })}
      </ul>
    </div>
  );
}
