import { type MouseEvent, memo, type PointerEvent, useContext, useLayoutEffect, useRef, useState } from "react";
import { useTranslation } from "react-i18next";
import { Link } from "react-router";
import { IconButton } from "#components/controls/icon-button.tsx";
import { keepFocusOnRightClick } from "#components/focus/keep-focus-on-right-click.ts";
import { WindowPathContext } from "#components/layout/screen.tsx";
import { getConversationName, toConversationPath } from "#components/messages/conversation-name.ts";
import type { MenuAnchor } from "#components/overlays/menu.tsx";
import { Avatar } from "#components/people/avatar.tsx";
import { type AvatarPerson, toAvatarPerson, unknownPerson } from "#components/people/avatar-text.ts";
import { BlockedBadge, GroupBadge } from "#components/people/name-badges.tsx";
import { formatTimeOrDate } from "#i18n/relative-date.ts";
import { useLanguage } from "#i18n/setup.ts";
import { animateEntrance } from "#lib/browser/page/row-entrance.ts";
import { useServerNow } from "#lib/browser/time/use-server-now.ts";
import type { ConversationListItem } from "#sync/hooks/use-conversations.ts";
import { ConversationPreview } from "./conversation-preview.tsx";
import { RowMenu, startFlagSwipe } from "./lazy-row-actions.ts";
import type { ConversationMenu } from "./use-conversation-menu.tsx";

/** Whether the buttons of a row appear on hover. On a touch screen, which cannot hover, the menu button stays. */
const canHover = () => matchMedia("(hover: hover)").matches;

/** Beside the time if at least some letters of the name fit, otherwise above it: a row with large text has the height. */
const nameClasses = "flex min-w-[min(100%,7rem)] flex-1 items-baseline gap-1.5";
const besideButtons = "group-hover:pr-14 group-has-[:focus-visible]:pr-14";
/** The time makes room for the buttons; screen readers still read it. */
const hiddenUnderButtons = "group-hover:sr-only group-has-[:focus-visible]:sr-only";

/** Avatar of a conversation: the group picture or the peer. */
export const toConversationAvatar = ({ id, group, person }: ConversationListItem): AvatarPerson =>
  group ? toAvatarPerson(group, id) : (person ?? unknownPerson);

/** Buttons for a mouse or a keyboard, smaller than those for fingers. */
const hoverButtonClasses = "size-8! text-[20px]!";

type ConversationListRowProps = {
  item: ConversationListItem;
  /** Position in the entrance animation; undefined without one. */
  entranceIndex?: number | undefined;
  menu: ConversationMenu;
};

function ConversationListRowView({ item, entranceIndex, menu }: ConversationListRowProps) {
  const { t } = useTranslation();
  const language = useLanguage();
  const now = useServerNow();
  const row = useRef<HTMLDivElement>(null);
  const [anchor, setAnchor] = useState<MenuAnchor>();
  const name = getConversationName(item, t);
  const path = toConversationPath(item);
  const openPath = useContext(WindowPathContext);
  const isOpen = openPath === path || openPath.startsWith(`${path}/`);
  const hasUnmutedUnread = (item.unread > 0 || item.marked) && !item.muted;

  const hasEntered = useRef(false);
  useLayoutEffect(() => {
    if (entranceIndex === undefined || hasEntered.current) return;
    hasEntered.current = true; // a hidden list runs its effects again when it is shown
    if (row.current) animateEntrance(row.current, entranceIndex);
  }, [entranceIndex]);

  const swipe = ({ pointerType, isPrimary, currentTarget, nativeEvent }: PointerEvent<HTMLElement>) => {
    if (pointerType === "touch" && isPrimary && !item.gone) startFlagSwipe(currentTarget, nativeEvent, item);
  };
  /** Opens the menu on a right click, a long press, or the menu key, which has no coordinates. */
  const openMenu = (event: MouseEvent) => {
    event.preventDefault();
    const isMenuKey = event.clientX === 0 && event.clientY === 0;
    setAnchor(isMenuKey ? event.currentTarget.getBoundingClientRect() : new DOMRect(event.clientX, event.clientY));
  };
  const renderMenuButton = (className: string) => (
    <IconButton
      icon="i-ph-dots-three-vertical-bold"
      label={t("masolo.rowActions", { name })}
      className={className}
      aria-haspopup="menu"
      aria-expanded={anchor !== undefined}
      onClick={(event) => setAnchor(event.currentTarget.getBoundingClientRect())}
    />
  );

  return (
    <div
      ref={row}
      onPointerDown={swipe}
      className={`group relative flex h-full items-center [touch-action:pan-y] ${isOpen ? "bg-accent-soft" : "bg-bg hover:bg-raised active:bg-raised"}`}
    >
      <Link
        to={path}
        aria-current={isOpen ? "page" : undefined}
        onMouseDown={keepFocusOnRightClick}
        onContextMenu={openMenu}
        className={`flex h-full min-w-0 flex-1 items-center gap-3 py-2 pl-4 outline-offset-[-3px] ${canHover() ? "pr-4" : "pr-1"}`}
      >
        <Avatar person={toConversationAvatar(item)} size={50} />
        <span className="flex min-w-0 flex-1 flex-col gap-0.5">
          <span className="flex flex-wrap items-baseline gap-x-2">
            <span className={`${nameClasses} ${canHover() ? besideButtons : ""}`}>
              {item.kind === "group" && <GroupBadge />}
              <bdi className="min-w-0 truncate font-semibold">{name}</bdi>
              {item.person?.blocked === 1 && <BlockedBadge />}
            </span>
            <time
              dateTime={new Date(item.at).toISOString()}
              className={`shrink-0 text-xs tabular-nums ${canHover() ? hiddenUnderButtons : ""} ${hasUnmutedUnread ? "font-semibold text-accent" : "text-muted"}`}
            >
              {formatTimeOrDate(item.at, language, now)}
            </time>
          </span>
          <ConversationPreview item={item} isOpen={isOpen} />
        </span>
      </Link>
      {canHover() ? (
        // In the place of the time and shown on hover only, so that nothing else moves.
        <span className="pointer-events-none absolute top-[calc(50%-1.75rem)] right-2 flex bg-inherit opacity-0 group-has-[:focus-visible]:pointer-events-auto group-has-[:focus-visible]:opacity-100 group-hover:pointer-events-auto group-hover:opacity-100">
          {renderMenuButton(`${hoverButtonClasses} text-muted`)}
          <IconButton
            icon="i-ph-trash"
            label={t("masolo.deleteNamed", { name })}
            className={`${hoverButtonClasses} text-muted hover:text-danger`}
            onClick={() => menu.confirm("delete", item)}
          />
        </span>
      ) : (
        renderMenuButton("mr-1 text-muted")
      )}
      {anchor && <RowMenu item={item} menu={menu} anchor={anchor} onClose={() => setAnchor(undefined)} />}
    </div>
  );
}

/** Re-renders only with another item: a live query returns unchanged items as the same objects. */
export const ConversationListRow = memo(ConversationListRowView);
