import { useEffect, useState, useSyncExternalStore } from "react";
import { useTranslation } from "react-i18next";
import { Link } from "react-router";
import { clearMessagesDuringCall, messagesDuringCall } from "#calls/ui/messages-during-call.ts";
import { minimizeWithFocus } from "#calls/ui/minimize-focus.ts";
import { CountBadge } from "#components/controls/count-badge.tsx";
import { toConversationPath } from "#components/messages/conversation-name.ts";
import { describeNewMessage, getNewMessageTitle, NewMessagePreview } from "#components/messages/new-message-text.tsx";
import type { ConversationId } from "#contract/ids.ts";
import { isolateBidi } from "#lib/text/bidi.ts";
import { useUnreadPreviews } from "#sync/hooks/new-messages.ts";
import { useSettings } from "#sync/hooks/use-settings.ts";

const previewMs = 5_000;

/** Whether the key has changed within the last `previewMs`. */
const useIsFresh = (key: string): boolean => {
  const [old, setOld] = useState<string>();
  useEffect(() => {
    const timer = setTimeout(() => setOld(key), previewMs);
    return () => clearTimeout(timer);
  }, [key]);
  return old !== key;
};

/**
 * New messages while the call screen covers the chats: their number, at first a preview too, and a link to the newest
 * chat. It takes no focus, so it is announced politely.
 */
export function MessagesStrip({ isOverVideo, className }: { isOverVideo: boolean; className: string }) {
  const { t } = useTranslation();
  const settings = useSettings();
  const previews = useUnreadPreviews(useSyncExternalStore(messagesDuringCall.subscribe, messagesDuringCall.get));
  const [newest] = previews;
  const level = settings[newest?.group ? "groups" : "messages"].preview;
  // Announced once per conversation, not for every message.
  const [announced, setAnnounced] = useState<{ id: ConversationId; text: string }>();
  if (newest && announced?.id !== newest.id)
    setAnnounced({ id: newest.id, text: describeNewMessage(newest, level, t) });
  if (!newest && announced) setAnnounced(undefined);
  useEffect(() => clearMessagesDuringCall, []);
  const count = previews.reduce((sum, { unread }) => sum + unread, 0);
  const isFresh = useIsFresh(`${newest?.id} ${count}`);
  return (
    <div className={className}>
      <p role="status" className="sr-only">
        {announced?.text}
      </p>
      {newest && (
        <Link
          to={toConversationPath(newest)}
          className={`rise flex min-h-12 w-fit max-w-full items-center gap-2 rounded-full px-3 ${isOverVideo ? "bg-black/60 text-white" : "bg-raised text-text"}`}
          onClick={minimizeWithFocus}
        >
          <span className="i-ph-chat-circle-text-fill shrink-0 text-2xl" aria-hidden="true" />
          <span className="sr-only">
            {t("chat.newMessages", { count })}. {getNewMessageTitle(newest, level, t)}
          </span>
          {isFresh && (
            <span className="min-w-0 truncate text-sm" aria-hidden="true">
              {t("chat.from", { name: isolateBidi(getNewMessageTitle(newest, level, t)) })}{" "}
              <NewMessagePreview message={newest} level={level} />
            </span>
          )}
          {(!isFresh || count > 1) && (
            <span aria-hidden="true" className="shrink-0">
              <CountBadge count={count} />
            </span>
          )}
        </Link>
      )}
    </div>
  );
}
