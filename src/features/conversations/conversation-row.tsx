import { memo, useContext, useLayoutEffect, useRef, useState } from "react";
import { Link } from "react-router";
import { Avatar } from "../../components/avatar";
import { CountBadge } from "../../components/count-badge";
import { IconButton } from "../../components/icon-button";
import { type MenuAnchor, MenuPopup } from "../../components/menu";
import { MessageTicks } from "../../components/message-ticks";
import { OpenPath } from "../../components/open-path";
import { formatTimeOrDate } from "../../i18n/relative-date";
import { useLanguage, useT } from "../../i18n/setup";
import type { ConversationListItem } from "../../sync/hooks";

const enterStepMs = 50; // SPEC.md §9
const enterMs = 220;

/** A touch screen has no hover to reveal a button with, so there it is a menu that is always in sight. */
const canHover = () => matchMedia("(hover: hover)").matches;

const toPath = (item: ConversationListItem): string =>
  item.peer === undefined ? `/app/group/${item.id}` : `/app/chat/${item.peer}`;

function Preview({ last }: { last: ConversationListItem["last"] }) {
  const t = useT();
  const { body } = last;
  if (body?.type === "text") return <bdi>{body.text}</bdi>;
  if (body?.type === "deleted") return <i>{t("masolo.deletedMessage")}</i>;
  return body && <i>{t("masolo.unreadable")}</i>;
}

type RowProps = {
  item: ConversationListItem;
  /** The row's place in the first screenful, when it has just come up. */
  enterIndex: number | undefined;
  onDelete: (item: ConversationListItem) => void;
};

function Row({ item, enterIndex, onDelete }: RowProps) {
  const t = useT();
  const language = useLanguage();
  const row = useRef<HTMLDivElement>(null);
  const [anchor, setAnchor] = useState<MenuAnchor>();
  const name = item.person?.username || t("common.user");
  const { last, unread } = item;
  const path = toPath(item);
  const isOpen = useContext(OpenPath) === path;

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

  return (
    <div
      ref={row}
      className={`group flex h-full items-center pr-1 ${isOpen ? "bg-accent-soft" : "hover:bg-raised active:bg-raised"}`}
    >
      <Link
        to={path}
        aria-current={isOpen ? "page" : undefined}
        onContextMenu={(event) => {
          if (canHover()) return;
          event.preventDefault();
          setAnchor(new DOMRect(event.clientX, event.clientY));
        }}
        className="flex h-full min-w-0 flex-1 items-center gap-3 py-2 pr-1 pl-4 outline-offset-[-3px]"
      >
        <Avatar person={item.person ?? { username: "", phone: "", avatar: null }} size={50} />
        <span className="flex min-w-0 flex-1 flex-col gap-0.5">
          <span className="flex items-baseline gap-2">
            <bdi className="min-w-0 flex-1 truncate text-left font-semibold">{name}</bdi>
            <time
              dateTime={new Date(item.at).toISOString()}
              className={`shrink-0 text-xs tabular-nums ${unread > 0 ? "font-semibold text-accent" : "text-muted"}`}
            >
              {formatTimeOrDate(item.at, language)}
            </time>
          </span>
          <span className="flex min-h-6 items-center gap-1.5">
            {last.mine && last.status && <MessageTicks status={last.status} />}
            <span
              className={`min-w-0 flex-1 truncate text-sm ${unread > 0 ? "font-medium text-text" : "text-muted"} ${last.status === "failed" ? "text-danger" : ""}`}
            >
              {last.mine && <span>{t("masolo.own")} </span>}
              <Preview last={last} />
            </span>
            {unread > 0 && <CountBadge count={unread} label={t("masolo.unread", { count: unread })} />}
          </span>
        </span>
      </Link>
      {canHover() ? (
        <IconButton
          icon="i-ph-trash"
          label={t("masolo.deleteNamed", { name })}
          className="!text-muted opacity-0 hover:!text-danger focus-visible:opacity-100 group-hover:opacity-100 group-focus-within:opacity-100"
          onClick={() => onDelete(item)}
        />
      ) : (
        <IconButton
          icon="i-ph-dots-three-vertical-bold"
          label={t("masolo.rowActions", { name })}
          className="!text-muted"
          aria-haspopup="menu"
          aria-expanded={anchor !== undefined}
          onClick={(event) => setAnchor(event.currentTarget.getBoundingClientRect())}
        />
      )}
      {anchor && (
        <MenuPopup
          label={t("masolo.rowActions", { name })}
          anchor={anchor}
          items={[
            {
              id: "delete",
              label: t("masolo.delete"),
              icon: "i-ph-trash",
              tone: "danger",
              onSelect: () => onDelete(item),
            },
          ]}
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
    before.onDelete === after.onDelete &&
    JSON.stringify(before.item) === JSON.stringify(after.item),
);
