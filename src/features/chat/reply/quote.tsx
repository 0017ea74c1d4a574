import { useContext } from "react";
import { useTranslation } from "react-i18next";
import { MessagePreview } from "#components/messages/message-preview.tsx";
import { quoteClasses } from "#components/messages/quote-classes.ts";
import type { ConversationId } from "#contract/ids.ts";
import { parseGroupPlace } from "#contract/messages/body.ts";
import { toPreview } from "#contract/wire/preview.ts";
import { type ChatPeople, getSenderName } from "#features/chat/message/senders.ts";
import { balanceBidi, isRightToLeft } from "#lib/text/bidi.ts";
import type { ChatItem } from "#sync/hooks/use-chat.ts";
import { useConversation } from "#sync/hooks/use-conversations.ts";
import { useMemberProfiles } from "#sync/hooks/use-member-profiles.ts";
import type { QuotedMessage } from "#sync/store/view-models.ts";
import type { ReplyTarget } from "#sync/unsent/draft-row.ts";
import { ReplyActionsContext } from "./reply-actions-context.ts";
import { useOpenGroupPlace } from "./use-open-group-place.ts";
import { useQuotedMessage } from "./use-quoted-message.ts";

type QuoteContentProps = {
  conversation: ConversationId;
  target: ReplyTarget;
  quoted: QuotedMessage | undefined;
  people: ChatPeople;
};

/**
 * Author and first words of a quoted message, with the name of its group if it is of another conversation. Neutral
 * until the message is on this device.
 */
export function QuoteContent({ target, quoted, ...chat }: QuoteContentProps) {
  const { t } = useTranslation();
  const place = parseGroupPlace(target);
  const conversation = place?.group ?? chat.conversation;
  const group = useConversation(place?.group)?.group;
  const groupPeople: ChatPeople = { name: "", members: group ? { ownNumber: group.number, profiles: {} } : undefined };
  const { members, name } = place ? groupPeople : chat.people;
  const sender = quoted?.state === "found" ? quoted.sender : undefined;
  const profiles = useMemberProfiles(members && conversation, sender === undefined ? [] : [sender]);
  if (quoted?.state !== "found" || (place && !group)) {
    const isUnavailable = quoted?.state === "unavailable";
    const text =
      isUnavailable && quoted.isDeletedByMe
        ? "messages.deletedByMe"
        : place
          ? "messages.ofOtherConversation"
          : isUnavailable
            ? "messages.unavailable"
            : "messages.replyLabel";
    return <span className={`${quoteClasses.text} italic`}>{t(text)}</span>;
  }
  const { body, mine } = quoted;
  const names = members && { ...members, profiles: { ...members.profiles, ...profiles } };
  const author = mine ? t("common.you") : getSenderName({ name, members: names }, sender, t);
  return (
    <>
      <span className={quoteClasses.author}>
        <bdi>{balanceBidi(author)}</bdi>
        {group && (
          <>
            {" · "}
            <bdi>{balanceBidi(group.name)}</bdi>
          </>
        )}
      </span>
      <span className={quoteClasses.text} dir={"text" in body && isRightToLeft(body.text ?? "") ? "rtl" : undefined}>
        <MessagePreview
          body={toPreview(body).preview}
          inGroup={names && { sender, names }}
          perspective={{ isMine: mine, peerName: name }}
        />
      </span>
    </>
  );
}

type QuoteProps = { conversation: ConversationId; item: ChatItem; target: ReplyTarget };

/** Quote above the content of a reply. A tap shows the original, in its group if it is of another conversation. */
export default function Quote({ conversation, item, target }: QuoteProps) {
  const { t } = useTranslation();
  const actions = useContext(ReplyActionsContext);
  const openPlace = useOpenGroupPlace();
  const quoted = useQuotedMessage(conversation, target);
  const seq = quoted?.state === "found" ? quoted.seq : undefined;
  const content = (
    <>
      <span className="sr-only">{t("messages.inReplyTo")} </span>
      {actions && <QuoteContent conversation={conversation} target={target} quoted={quoted} people={actions.people} />}
    </>
  );
  if (seq === undefined || !actions) return <p className={quoteClasses.box}>{content}</p>;
  return (
    <button
      type="button"
      tabIndex={-1}
      className={`${quoteClasses.box} text-start`}
      onClick={() => openPlace(target) || actions.showQuoted(seq, item)}
    >
      {content}
    </button>
  );
}
