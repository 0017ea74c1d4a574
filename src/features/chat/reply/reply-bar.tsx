import { useContext } from "react";
import { useTranslation } from "react-i18next";
import { IconButton } from "#components/controls/icon-button.tsx";
import type { ConversationId } from "#contract/ids.ts";
import { setReplyDraft } from "#sync/actions/drafts.ts";
import type { ReplyTarget } from "#sync/unsent/draft-row.ts";
import { QuoteContent } from "./quote.tsx";
import { ReplyActionsContext } from "./reply-actions-context.ts";
import { useQuotedMessage } from "./use-quoted-message.ts";

type ReplyBarProps = { id: string; conversation: ConversationId; target: ReplyTarget; onCancelled: () => void };

/** Message that the draft answers, above the message field. */
export default function ReplyBar({ id, conversation, target, onCancelled }: ReplyBarProps) {
  const { t } = useTranslation();
  const people = useContext(ReplyActionsContext)?.people;
  const quoted = useQuotedMessage(conversation, target);
  return (
    <div className="flex items-center gap-2 pb-2 pl-2">
      <span className="i-ph-arrow-bend-up-left shrink-0 text-xl text-accent" aria-hidden="true" />
      <p id={id} className="flex min-w-0 flex-1 flex-col border-l-4 border-accent px-2.5 text-sm leading-5">
        <span className="sr-only">{t("messages.inReplyTo")} </span>
        {people && <QuoteContent conversation={conversation} target={target} quoted={quoted} people={people} />}
      </p>
      <IconButton
        icon="i-ph-x-bold"
        label={t("chat.cancelReply")}
        className="text-muted"
        onClick={() => {
          setReplyDraft(conversation, undefined);
          onCancelled();
        }}
      />
    </div>
  );
}
