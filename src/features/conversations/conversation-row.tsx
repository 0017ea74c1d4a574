import { type MouseEvent, memo, useContext, useLayoutEffect, useRef, useState } from "react";
import { useTranslation } from "react-i18next";
import { Link } from "react-router";
import { IconButton } from "#components/controls/icon-button.tsx";
import { OpenPath } from "#components/layout/window-location.ts";
import { type MenuAnchor, MenuPopup } from "#components/overlays/menu.tsx";
import { Avatar } from "#components/people/avatar.tsx";
import { BlockedMark } from "#components/people/blocked-badge.tsx";
import { GroupMark } from "#components/people/group-badge.tsx";
import { formatTimeOrDate } from "#i18n/relative-date.ts";
import { useLanguage } from "#i18n/setup.ts";
import { useServerNow } from "#lib/browser/clock.ts";
import type { ConversationListItem } from "#sync/hooks/use-live-query.ts";
import { faceOf, nameOfConversation } from "./conversation-name.ts";
import { LastLine } from "./last-line.tsx";
import type { ConversationDeeds } from "./use-conversation-menu.tsx";

const enterStepMs = 50; // SPEC.md §9
const enterMs = 220;

/** A touch screen has no hover to reveal a button with, so there the menu's button is always in sight. */
const canHover = () => matchMedia("(hover: hover)").matches;

/** The time makes room for them; a screen reader goes on telling it. */
const underButtons = "group-hover:sr-only group-has-[:focus-visible]:sr-only";

const toPath = (item: ConversationListItem): string =>
  item.peer === undefined ? `/app/group/${item.id}` : `/app/chat/${item.peer}`;

type RowProps = {
  item: ConversationListItem;
  /** The row's place in the first screenful, when it has just come up. */
  enterIndex?: number | undefined;
  deeds: ConversationDeeds;
};

function Row({ item, enterIndex, deeds }: RowProps) {
  const { t } = useTranslation();
  const language = useLanguage();
  const now = useServerNow();
  const row = useRef<HTMLDivElement>(null);
  const [anchor, setAnchor] = useState<MenuAnchor>();
  const name = nameOfConversation(item, t);
  const path = toPath(item);
  const openPath = useContext(OpenPath);
  const isOpen = openPath === path || openPath.startsWith(`${path}/`);
  const isLoud = item.unread > 0 && !item.muted;

  const hasEntered = useRef(false);
  useLayoutEffect(() => {
    if (enterIndex === undefined || hasEntered.current) return;
    hasEntered.current = true; // a list that waited hidden runs its effects again when it returns
    row.current?.animate([{ opacity: 0, transform: "translateY(8px)" }, {}], {
      duration: enterMs,
      delay: enterIndex * enterStepMs,
      easing: "ease-out",
      fill: "backwards",
    });
  }, [enterIndex]);

  /** The right button, a long press, and the menu key, which has no place of its own. */
  const openMenu = (event: MouseEvent) => {
    event.preventDefault();
    const isKey = event.clientX === 0 && event.clientY === 0;
    setAnchor(isKey ? event.currentTarget.getBoundingClientRect() : new DOMRect(event.clientX, event.clientY));
  };
  const menuButton = (look: string) => (
    <IconButton
      icon="i-ph-dots-three-vertical-bold"
      label={t("masolo.rowActions", { name })}
      className={look}
      aria-haspopup="menu"
      aria-expanded={anchor !== undefined}
      onClick={(event) => setAnchor(event.currentTarget.getBoundingClientRect())}
    />
  );

  return (
    <div
      ref={row}
      className={`group relative flex h-full items-center ${isOpen ? "bg-accent-soft" : "bg-bg hover:bg-raised active:bg-raised"}`}
    >
      <Link
        to={path}
        aria-current={isOpen ? "page" : undefined}
        onContextMenu={openMenu}
        className={`flex h-full min-w-0 flex-1 items-center gap-3 py-2 pl-4 outline-offset-[-3px] ${canHover() ? "pr-4 group-hover:pr-28 group-has-[:focus-visible]:pr-28" : "pr-1"}`}
      >
        <Avatar person={faceOf(item)} size={50} />
        <span className="flex min-w-0 flex-1 flex-col gap-0.5">
          <span className="flex items-baseline gap-2">
            <span className="flex min-w-0 flex-1 items-center gap-1.5">
              {item.kind === "group" && <GroupMark />}
              <bdi className="min-w-0 truncate font-semibold">{name}</bdi>
              {item.person?.blocked === 1 && <BlockedMark />}
            </span>
            <time
              dateTime={new Date(item.at).toISOString()}
              className={`shrink-0 text-xs tabular-nums ${canHover() ? underButtons : ""} ${isLoud ? "font-semibold text-accent" : "text-muted"}`}
            >
              {formatTimeOrDate(item.at, language, now)}
            </time>
          </span>
          <LastLine item={item} isOpen={isOpen} />
        </span>
      </Link>
      {canHover() ? (
        // At the row's end while it is pointed at, so that a list at rest has its whole width.
        <span className="pointer-events-none absolute inset-y-0 right-0 flex items-center bg-inherit pr-1 pl-2 opacity-0 group-has-[:focus-visible]:pointer-events-auto group-has-[:focus-visible]:opacity-100 group-hover:pointer-events-auto group-hover:opacity-100">
          {menuButton("text-muted")}
          <IconButton
            icon="i-ph-trash"
            label={t("masolo.deleteNamed", { name })}
            className="text-muted hover:text-danger"
            onClick={() => deeds.askDelete(item)}
          />
        </span>
      ) : (
        menuButton("mr-1 text-muted")
      )}
      {anchor && (
        <MenuPopup
          label={t("masolo.rowActions", { name })}
          anchor={anchor}
          items={deeds.itemsOf(item)}
          onClose={() => setAnchor(undefined)}
        />
      )}
    </div>
  );
}

/** Every read of the store makes new objects; a row renders again only when what it shows is other than before. */
export const ConversationRow = memo(
  Row,
  (before, after) =>
    before.enterIndex === after.enterIndex &&
    before.deeds.itemsOf === after.deeds.itemsOf &&
    before.deeds.askDelete === after.deeds.askDelete &&
    JSON.stringify(before.item) === JSON.stringify(after.item),
);
