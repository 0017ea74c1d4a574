import { useTranslation } from "react-i18next";
import { CountBadge } from "#components/controls/count-badge.tsx";
import { type CallPerspective, toCallEntry } from "#components/messages/call-text.ts";
import { getConversationName } from "#components/messages/conversation-name.ts";
import { describeTyping, getMemberName, shortenName, toMemberNames } from "#components/messages/member-names.ts";
import { MessagePreview } from "#components/messages/message-preview.tsx";
import { MessageTicks } from "#components/messages/message-ticks.tsx";
import { toMutedText } from "#components/people/mute-texts.ts";
import { isSystemMessage } from "#contract/messages/kinds.ts";
import type { Translate } from "#i18n/setup.ts";
import { balanceBidi, isolateBidi } from "#lib/text/bidi.ts";
import { useTypingMembers } from "#sync/hooks/use-chat.ts";
import type { ConversationListItem } from "#sync/hooks/use-conversations.ts";
import { useMemberProfiles } from "#sync/hooks/use-member-profiles.ts";
import { useHasVoiceDraft } from "#sync/hooks/use-unsent.ts";

type PreviewTextProps = {
  item: ConversationListItem;
  isOpen: boolean;
  /** Typing notification. */
  typingText: string | undefined;
  /** There is an unsent voice recording. */
  isRecorded: boolean;
};

function PreviewText({ item, isOpen, typingText, isRecorded: hasRecording }: PreviewTextProps) {
  const { t } = useTranslation();
  const { last, draft } = item;
  if (typingText !== undefined) return <span className="font-medium text-accent">{typingText}</span>;
  // The draft of the open chat is visible in its composer.
  if ((draft || hasRecording) && (!isOpen || item.gone)) {
    return (
      <>
        <span className="font-medium text-danger">{t("masolo.draft")}</span>{" "}
        {draft ? <bdi>{balanceBidi(draft)}</bdi> : t("masolo.draftVoice")}
      </>
    );
  }
  // A group that was left: only unsent files remain.
  if (item.gone && !last.body) return <span className="font-medium text-danger">{t("groups.chat.leftUnsent")}</span>;
  if (!last.body) return <i>{t("masolo.nothingLeft")}</i>;
  const names = toMemberNames(item);
  return (
    <>
      <AuthorPrefix item={item} />
      <MessagePreview
        body={last.body}
        inGroup={names && { sender: last.sender, names }}
        perspective={toCallPerspective(item, t)}
      />
    </>
  );
}

/** Perspective of this user on a call entry. */
const toCallPerspective = (item: ConversationListItem, t: Translate): CallPerspective => ({
  isMine: item.last.mine,
  peerName: getConversationName(item, t),
});

const authorNameChars = 18;

/** Sender of the last message: this user, or a member of a group once the name is loaded. */
function AuthorPrefix({ item }: { item: ConversationListItem }) {
  const { t } = useTranslation();
  const { body, mine, sender } = item.last;
  const names = toMemberNames(item);
  if (body && isSystemMessage(body)) return null;
  if (mine) return <span>{t("masolo.own")} </span>;
  if (!names || sender === undefined || !names.profiles[sender]) return null;
  return (
    <span>{t("chat.from", { name: isolateBidi(shortenName(getMemberName(names, sender, t), authorNameChars)) })} </span>
  );
}

const noMemberNumbers: readonly number[] = [];

/** Short typing notification; in a group with names. */
const useTypingText = (item: ConversationListItem): string | undefined => {
  const { t } = useTranslation();
  const { id, group, person } = item;
  const typists = useTypingMembers(id);
  const profiles = useMemberProfiles(group ? id : undefined, group ? typists : noMemberNumbers);
  if (group) return describeTyping({ ownNumber: group.number, profiles }, typists, t);
  return typists.length > 0 && person?.blocked !== 1 ? t("chat.typing") : undefined;
};

/** Second line of a row: typing notification, draft or last message, and the unread count. */
export function ConversationPreview({ item, isOpen }: { item: ConversationListItem; isOpen: boolean }) {
  const { t } = useTranslation();
  const typingText = useTypingText(item);
  const hasRecording = useHasVoiceDraft(item.id);
  const { last, unread, mentions, marked, muted, mutedExceptMentions } = item;
  const showsLastMessage = typingText === undefined && (isOpen || !(item.draft || hasRecording));
  const tickStatus = showsLastMessage && last.mine && last.body && last.status; // system messages have no status
  const hasUnmutedUnread = (unread > 0 || marked) && !muted;
  const isFailedCall =
    showsLastMessage &&
    last.body?.type === "call" &&
    toCallEntry(last.body, toCallPerspective(item, t), t).isUnsuccessful;
  const isError = tickStatus === "failed" || isFailedCall;
  return (
    <span className="flex min-h-6 items-center gap-1.5">
      {tickStatus && <MessageTicks status={tickStatus} />}
      <span
        className={`min-w-0 flex-1 truncate text-sm ${hasUnmutedUnread ? "font-medium" : ""} ${isError ? "text-danger" : hasUnmutedUnread ? "text-text" : "text-muted"}`}
      >
        <PreviewText item={item} isOpen={isOpen} typingText={typingText} isRecorded={hasRecording} />
      </span>
      {muted && (
        <span
          role="img"
          aria-label={toMutedText({ mutedUntil: null, mutedExceptMentions }, t)}
          className="i-ph-bell-slash shrink-0 text-base text-muted"
        />
      )}
      {item.pinned && (
        <span role="img" aria-label={t("masolo.pinned")} className="i-ph-push-pin-fill shrink-0 text-base text-muted" />
      )}
      {mentions.length > 0 && (
        <CountBadge
          count="@"
          quiet={muted && !mutedExceptMentions}
          label={t("masolo.mentions", { count: mentions.length })}
        />
      )}
      {unread > 0 && <CountBadge count={unread} quiet={muted} label={t("masolo.unread", { count: unread })} />}
      {marked && unread === 0 && <CountBadge count="" quiet={muted} label={t("masolo.marked")} />}
    </span>
  );
}
