import { useTranslation } from "react-i18next";
import { CountBadge } from "#components/controls/count-badge.tsx";
import { type CallSide, callLine } from "#components/messages/call-text.ts";
import { describeTyping, nameOfMember, shortName } from "#components/messages/member-names.ts";
import { MessagePreview } from "#components/messages/message-preview.tsx";
import { MessageTicks } from "#components/messages/message-ticks.tsx";
import type { Translate } from "#i18n/setup.ts";
import { balance, isolate } from "#lib/text/bidi.ts";
import { type ConversationListItem, useAuthors, useIsRecorded, useTyping } from "#sync/hooks/use-live-query.ts";
import { nameOfConversation, namesIn } from "./conversation-name.ts";

type WordsProps = {
  item: ConversationListItem;
  isOpen: boolean;
  /** Who types. */
  typing: string | undefined;
  /** A voice message was recorded and not sent. */
  isRecorded: boolean;
};

function Words({ item, isOpen, typing, isRecorded }: WordsProps) {
  const { t } = useTranslation();
  const { last, draft } = item;
  if (typing !== undefined) return <span className="font-medium text-accent">{typing}</span>;
  // What is being written in the open chat is in sight there.
  if ((draft || isRecorded) && (!isOpen || item.gone)) {
    return (
      <>
        <span className="font-medium text-danger">{t("masolo.draft")}</span>{" "}
        {draft ? <bdi>{balance(draft)}</bdi> : t("masolo.draftVoice")}
      </>
    );
  }
  // Chosen, and nothing else is left of it.
  if (item.gone && !last.body) return <span className="font-medium text-danger">{t("groups.chat.leftUnsent")}</span>;
  if (!last.body) return <i>{t("masolo.nothingLeft")}</i>;
  const names = namesIn(item);
  return (
    <>
      <Author item={item} />
      <MessagePreview body={last.body} inGroup={names && { sender: last.sender, names }} side={sideOf(item, t)} />
    </>
  );
}

/** Whose the line of a call is. */
const sideOf = (item: ConversationListItem, t: Translate): CallSide => ({
  isMine: item.last.mine,
  name: nameOfConversation(item, t),
});

const authorLetters = 18;

/** Who said what was said last: oneself, or one of the several in a group. */
function Author({ item }: { item: ConversationListItem }) {
  const { t } = useTranslation();
  const { body, mine, sender } = item.last;
  const names = namesIn(item);
  if (body?.type === "event" || body?.type === "call") return null;
  if (mine) return <span>{t("masolo.own")} </span>;
  return (
    names && <span>{t("chat.from", { name: isolate(shortName(nameOfMember(names, sender, t), authorLetters)) })} </span>
  );
}

const nobody: readonly number[] = [];

/** Who types, in a few words: in a group by name. */
const useTypingWords = (item: ConversationListItem): string | undefined => {
  const { t } = useTranslation();
  const { id, group, person } = item;
  const typists = useTyping(id);
  const authors = useAuthors(group ? id : undefined, group ? typists : nobody);
  if (group) return describeTyping({ own: group.number, authors }, typists, t);
  return typists.length > 0 && person?.blocked !== 1 ? t("chat.typing") : undefined;
};

/** The second line of a conversation's entry: what happens in it, what was said last, and what is unread. */
export function LastLine({ item, isOpen }: { item: ConversationListItem; isOpen: boolean }) {
  const { t } = useTranslation();
  const typing = useTypingWords(item);
  const isRecorded = useIsRecorded(item.id);
  const { last, unread, muted } = item;
  const isLastShown = typing === undefined && (isOpen || !(item.draft || isRecorded));
  const hasTicks = isLastShown && last.mine && last.body && last.status; // what is only told has none
  const isLoud = unread > 0 && !muted;
  const isBadCall = isLastShown && last.body?.type === "call" && callLine(last.body, sideOf(item, t), t).isBad;
  const isRed = hasTicks === "failed" || isBadCall;
  return (
    <span className="flex min-h-6 items-center gap-1.5">
      {hasTicks && <MessageTicks status={hasTicks} />}
      <span
        className={`min-w-0 flex-1 truncate text-sm ${isLoud ? "font-medium" : ""} ${isRed ? "text-danger" : isLoud ? "text-text" : "text-muted"}`}
      >
        <Words item={item} isOpen={isOpen} typing={typing} isRecorded={isRecorded} />
      </span>
      {muted && (
        <span role="img" aria-label={t("mute.isOn")} className="i-ph-bell-slash shrink-0 text-base text-muted" />
      )}
      {unread > 0 && <CountBadge count={unread} quiet={muted} label={t("masolo.unread", { count: unread })} />}
    </span>
  );
}
