import { CountBadge } from "../../components/count-badge";
import { MessagePreview } from "../../components/message-preview";
import { MessageTicks } from "../../components/message-ticks";
import { useT } from "../../i18n/setup";
import { balance } from "../../lib/isolate";
import { type ConversationListItem, useTyping } from "../../sync/hooks";

function Words({ item, isOpen, isTyping }: { item: ConversationListItem; isOpen: boolean; isTyping: boolean }) {
  const t = useT();
  const { last, draft } = item;
  if (isTyping) return <span className="font-medium text-accent">{t("chat.typing")}</span>;
  // What is being written in the open chat is in sight there.
  if (draft && !isOpen) {
    return (
      <>
        <span className="font-medium text-danger">{t("masolo.draft")}</span> <bdi>{balance(draft)}</bdi>
      </>
    );
  }
  if (!last.body) return <i>{t("masolo.nothingLeft")}</i>;
  return (
    <>
      {last.mine && <span>{t("masolo.own")} </span>}
      <MessagePreview body={last.body} />
    </>
  );
}

/** The second line of a conversation's entry: what happens in it, what was said last, and what is unread. */
export function LastLine({ item, isOpen }: { item: ConversationListItem; isOpen: boolean }) {
  const t = useT();
  const isTyping = useTyping(item.id).length > 0 && item.person?.blocked !== 1;
  const { last, unread, muted } = item;
  const hasTicks = !isTyping && (isOpen || !item.draft) && last.mine && last.body && last.status;
  const isLoud = unread > 0 && !muted;
  return (
    <span className="flex min-h-6 items-center gap-1.5">
      {hasTicks && <MessageTicks status={hasTicks} />}
      <span
        className={`min-w-0 flex-1 truncate text-sm ${isLoud ? "font-medium text-text" : "text-muted"} ${hasTicks === "failed" ? "text-danger" : ""}`}
      >
        <Words item={item} isOpen={isOpen} isTyping={isTyping} />
      </span>
      {muted && (
        <span role="img" aria-label={t("mute.isOn")} className="i-ph-bell-slash shrink-0 text-base text-muted" />
      )}
      {unread > 0 && <CountBadge count={unread} quiet={muted} label={t("masolo.unread", { count: unread })} />}
    </span>
  );
}
