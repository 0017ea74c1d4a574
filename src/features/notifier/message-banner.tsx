import { type FocusEvent, useEffect, useEffectEvent, useRef, useState } from "react";
import { useTranslation } from "react-i18next";
import { Link } from "react-router";
import { IconButton } from "#components/controls/icon-button.tsx";
import { toConversationPath } from "#components/messages/conversation-name.ts";
import { describeNewMessage, getNewMessageTitle, NewMessagePreview } from "#components/messages/new-message-text.tsx";
import { Avatar } from "#components/people/avatar.tsx";
import { type AvatarPerson, toAvatarPerson, unknownPerson } from "#components/people/avatar-text.ts";
import type { ConversationId } from "#contract/ids.ts";
import type { PreviewLevel, Settings } from "#contract/settings/settings.ts";
import { type UnreadPreview, useUnreadPreview } from "#sync/hooks/new-messages.ts";

const toBannerPerson = ({ id, group, person }: UnreadPreview, level: PreviewLevel): AvatarPerson =>
  level === "nothing" ? unknownPerson : group ? toAvatarPerson(group, id) : (person ?? unknownPerson);

/** Line heights are capped so that two lines fit into the 72 px of the header below, at any text size. */
const firstLineClass = "truncate font-semibold leading-[min(1.5rem,32px)]";
const secondLineClass = "truncate text-sm leading-[min(1.25rem,30px)] text-muted";

type BannerCardProps = {
  news: UnreadPreview;
  level: PreviewLevel;
  /** Called when the user starts or stops interacting with the banner. */
  onHold: (isHeld: boolean) => void;
  onClose: () => void;
};

function BannerCard({ news, level, onHold, onClose }: BannerCardProps) {
  const { t } = useTranslation();
  const previousFocus = useRef<Element>(null);
  const card = useRef<HTMLElement>(null);
  const release = useEffectEvent(() => onHold(false));
  useEffect(() => () => release(), []);

  const closeAndRestoreFocus = () => {
    const hadFocus = card.current?.contains(document.activeElement) ?? false;
    const target = previousFocus.current?.isConnected
      ? previousFocus.current
      : document.querySelector("[role=main] h1");
    onClose();
    if (hadFocus && target instanceof HTMLElement) target.focus({ preventScroll: true });
  };
  const onFocus = ({ relatedTarget, currentTarget }: FocusEvent) => {
    if (relatedTarget instanceof Element && !currentTarget.contains(relatedTarget))
      previousFocus.current = relatedTarget;
    onHold(true);
  };

  return (
    <section
      ref={card}
      data-news
      aria-label={t("notifier.newMessage")}
      className="rise pointer-events-auto mt-0.5 flex h-17 w-full max-w-104 items-center rounded-card border border-line bg-surface text-text shadow-lg"
      onPointerDown={() => onHold(true)}
      // A banner that appears under a resting mouse does not count as held.
      onPointerMove={({ movementX, movementY }) => (movementX !== 0 || movementY !== 0) && onHold(true)}
      onPointerLeave={() => onHold(false)}
      onPointerCancel={() => onHold(false)}
      onFocus={onFocus}
      onBlur={() => onHold(false)}
      onKeyDown={({ key }) => key === "Escape" && closeAndRestoreFocus()}
    >
      <Link
        to={toConversationPath(news)}
        className="flex h-full min-w-0 flex-1 items-center gap-3 rounded-card pl-3 -outline-offset-3"
        onClick={onClose}
      >
        <Avatar person={toBannerPerson(news, level)} size={40} />
        <span className="flex min-w-0 flex-1 flex-col">
          <bdi className={firstLineClass}>{getNewMessageTitle(news, level, t)}</bdi>
          <span className={secondLineClass}>
            <NewMessagePreview message={news} level={level} />
          </span>
        </span>
      </Link>
      <IconButton icon="i-ph-x" label={t("common.close")} className="mr-1 text-muted" onClick={closeAndRestoreFocus} />
    </section>
  );
}

type MessageBannerProps = Omit<BannerCardProps, "news" | "level"> & {
  /** Conversation to show; undefined hides the banner. */
  conversationId: ConversationId | undefined;
  settings: Pick<Settings, "messages" | "groups">;
};

/**
 * Banner over the header, below any strip, without taking layout space. It does not take the focus; a status region
 * announces it.
 */
export function MessageBanner({ conversationId, settings, onHold, onClose }: MessageBannerProps) {
  const { t } = useTranslation();
  const news = useUnreadPreview(conversationId);
  const level = settings[news?.group ? "groups" : "messages"].preview;
  // Announced once per conversation: further messages do not interrupt a screen reader.
  const [announced, setAnnounced] = useState<{ id: ConversationId; text: string }>();
  if (news && announced?.id !== news.id) setAnnounced({ id: news.id, text: describeNewMessage(news, level, t) });
  if (conversationId === undefined && announced) setAnnounced(undefined);
  const isRead = news === null || news?.unread === 0;
  const close = useEffectEvent(onClose);
  useEffect(() => {
    if (isRead) close(); // in another tab, or on another device
  }, [isRead]);
  return (
    <div className="relative z-30 h-0 shrink-0">
      <p role="status" className="sr-only">
        {announced?.text}
      </p>
      {news && !isRead && (
        <div className="pointer-events-none absolute inset-x-0 top-0 flex justify-center px-1 pt-safe">
          <BannerCard key={news.id} news={news} level={level} onHold={onHold} onClose={onClose} />
        </div>
      )}
    </div>
  );
}
