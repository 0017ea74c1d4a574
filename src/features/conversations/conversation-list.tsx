import { useEffect, useLayoutEffect, useRef, useState } from "react";
import { useTranslation } from "react-i18next";
import { Link } from "react-router";
import { CountBadge } from "#components/controls/count-badge.tsx";
import { EmptyState } from "#components/layout/empty-state.tsx";
import { PaneSpinner } from "#components/layout/pane-spinner.tsx";
import { useInterruptibleContent } from "#components/layout/use-interruptible-content.ts";
import { useLastDefined } from "#components/layout/use-last-defined.ts";
import { useVisibleRows } from "#components/layout/use-visible-rows.ts";
import { isMotionReduced, useAppearance } from "#lib/browser/appearance.ts";
import { findFirstView, reportContentMissing, reportScreenDrawn } from "#lib/browser/first-view.ts";
import { useShownLink } from "#sync/hooks/use-connection.ts";
import { type ConversationListItem, useArchivedCount, useConversations } from "#sync/hooks/use-conversations.ts";
import { useContacts } from "#sync/hooks/use-people.ts";
import { ConversationListRow } from "./conversation-row.tsx";
import { EmptyFilter } from "./lazy-row-actions.ts";
import { focusChosenFilter, ListFilters, type ShownFilter } from "./list-filters.tsx";
import type { ConversationMenu } from "./use-conversation-menu.tsx";

const rowRem = 4.75;
const pageRows = 100;
const nearEndRows = 20;
const entranceRowsMax = 12;
const entranceMaxMs = 1_000;

/** Filter that was chosen last, since the list is drawn anew when the person comes back to it. */
let lastFilter: ShownFilter = "all";

/**
 * The entrance animation of the rows plays once per page load, and not over a first view, whose rows the person has seen
 * already (after a sign-in these enter one by one, `src/first-view/script/rows.ts`).
 */
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
  const [filter, setFilter] = useState(lastFilter);
  const items = useLastDefined(useConversations(limit, filter)); // those of the former filter stay while others are read
  const archivedCount = useArchivedCount();
  const { text } = useAppearance();
  const link = useShownLink();
  const isMissing = items === undefined;
  const hasContent = useInterruptibleContent(!isMissing);
  const isDrawn = hasContent || link === "offline";
  useLayoutEffect(() => {
    if (isDrawn) reportScreenDrawn("list");
    else if (isMissing) reportContentMissing();
  }, [isDrawn, isMissing]);

  if (items === undefined || !hasContent) return link === "offline" ? <ConversationsNotLoaded /> : <PaneSpinner />;
  if (items.length === 0 && filter === "all" && archivedCount === 0) return <NoConversations />;
  const showMore = () => {
    if (items.length >= limit) setLimit(limit + pageRows);
  };
  const chooseFilter = (chosen: ShownFilter) => {
    lastFilter = chosen;
    setFilter(chosen);
  };
  const showArchived = () => {
    chooseFilter("archived");
    queueMicrotask(focusChosenFilter);
  };
  return (
    <>
      <ListFilters value={filter} hasArchived={archivedCount > 0} onChange={chooseFilter} />
      {filter === "all" && archivedCount > 0 && <ArchivedRow count={archivedCount} onSelect={showArchived} />}
      {items.length === 0 ? (
        <EmptyFilter filter={filter} />
      ) : (
        // Another text size changes the row height, another filter starts at the top.
        <ConversationRows key={`${text} ${filter}`} items={items} menu={menu} onNearEnd={showMore} />
      )}
    </>
  );
}

/** Entry of the archive, above the list. */
function ArchivedRow({ count, onSelect }: { count: number; onSelect: () => void }) {
  const { t } = useTranslation();
  return (
    <button
      type="button"
      onClick={onSelect}
      className="flex min-h-12 shrink-0 items-center gap-3 border-b border-line px-4 text-left hover:bg-raised"
    >
      <span className="grid w-[50px] place-items-center text-2xl text-muted" aria-hidden="true">
        <span className="i-ph-archive" />
      </span>
      <span className="min-w-0 flex-1 truncate font-semibold">{t("masolo.filter.archived")}</span>
      <CountBadge count={count} quiet />
    </button>
  );
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
