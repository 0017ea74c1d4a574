import { useTranslation } from "react-i18next";
import { CountBadge } from "#components/controls/count-badge.tsx";
import { type CallPerspective, toCallEntry } from "#components/messages/call-text.ts";
import { describeTyping, getMemberName, shortenName } from "#components/messages/member-names.ts";
import { MessagePreview } from "#components/messages/message-preview.tsx";
import { MessageTicks } from "#components/messages/message-ticks.tsx";
import type { Translate } from "#i18n/setup.ts";
import { balanceBidi, isolateBidi } from "#lib/text/bidi.ts";
import {
  type ConversationListItem,
  useHasVoiceDraft,
  useMemberProfiles,
  useTypingMembers,
} from "#sync/hooks/use-live-query.ts";
import { getConversationName, toMemberNames } from "./conversation-name.ts";

type PreviewTextProps = {
  item: ConversationListItem;
  isOpen: boolean;
  /** Who types. */
  typingText: string | undefined;
  /** A voice message was recorded and not sent. */
  isRecorded: boolean;
};

function PreviewText({ item, isOpen, typingText, isRecorded }: PreviewTextProps) {
  const { t } = useTranslation();
  const { last, draft } = item;
  if (typingText !== undefined) return <span className="font-medium text-accent">{typingText}</span>;
  // What is being written in the open chat is in sight there.
  if ((draft || isRecorded) && (!isOpen || item.gone)) {
    return (
      <>
        <span className="font-medium text-danger">{t("masolo.draft")}</span>{" "}
        {draft ? <bdi>{balanceBidi(draft)}</bdi> : t("masolo.draftVoice")}
      </>
    );
  }
  // Chosen, and nothing else is left of it.
  if (item.gone && !last.body) return <span className="font-medium text-danger">{t("groups.chat.leftUnsent")}</span>;
  if (!last.body) return <i>{t("masolo.nothingLeft")}</i>;
  const names = toMemberNames(item);
  return (
    <>
      <AuthorPrefix item={item} />
      <MessagePreview
        body={last.body}
        inGroup={names && { sender: last.sender, names }}
        side={toCallPerspective(item, t)}
      />
    </>
  );
}

/** Whose the line of a call is. */
const toCallPerspective = (item: ConversationListItem, t: Translate): CallPerspective => ({
  isMine: item.last.mine,
  peerName: getConversationName(item, t),
});

const authorNameChars = 18;

/** Who said what was said last: oneself, or one of the several in a group. */
function AuthorPrefix({ item }: { item: ConversationListItem }) {
  const { t } = useTranslation();
  const { body, mine, sender } = item.last;
  const names = toMemberNames(item);
  if (body?.type === "event" || body?.type === "call") return null;
  if (mine) return <span>{t("masolo.own")} </span>;
  return (
    names && (
      <span>
        {t("chat.from", { name: isolateBidi(shortenName(getMemberName(names, sender, t), authorNameChars)) })}{" "}
      </span>
    )
  );
}

const noMemberNumbers: readonly number[] = [];

/** Who types, in a few words: in a group by name. */
const useTypingText = (item: ConversationListItem): string | undefined => {
  const { t } = useTranslation();
  const { id, group, person } = item;
  const typists = useTypingMembers(id);
  const authors = useMemberProfiles(group ? id : undefined, group ? typists : noMemberNumbers);
  if (group) return describeTyping({ ownNumber: group.number, authors }, typists, t);
  return typists.length > 0 && person?.blocked !== 1 ? t("chat.typing") : undefined;
};

/** The second line of a conversation's entry: what happens in it, what was said last, and what is unread. */
export function ConversationPreview({ item, isOpen }: { item: ConversationListItem; isOpen: boolean }) {
  const { t } = useTranslation();
  const typing = useTypingText(item);
  const isRecorded = useHasVoiceDraft(item.id);
  const { last, unread, muted } = item;
  const isLastShown = typing === undefined && (isOpen || !(item.draft || isRecorded));
  const hasTicks = isLastShown && last.mine && last.body && last.status; // what is only told has none
  const isLoud = unread > 0 && !muted;
  const isBadCall =
    isLastShown && last.body?.type === "call" && toCallEntry(last.body, toCallPerspective(item, t), t).isUnsuccessful;
  const isRed = hasTicks === "failed" || isBadCall;
  return (
    <span className="flex min-h-6 items-center gap-1.5">
      {hasTicks && <MessageTicks status={hasTicks} />}
      <span
        className={`min-w-0 flex-1 truncate text-sm ${isLoud ? "font-medium" : ""} ${isRed ? "text-danger" : isLoud ? "text-text" : "text-muted"}`}
      >
        <PreviewText item={item} isOpen={isOpen} typingText={typing} isRecorded={isRecorded} />
      </span>
      {muted && (
        <span role="img" aria-label={t("mute.isOn")} className="i-ph-bell-slash shrink-0 text-base text-muted" />
      )}
      {unread > 0 && <CountBadge count={unread} quiet={muted} label={t("masolo.unread", { count: unread })} />}
    </span>
  );
}
