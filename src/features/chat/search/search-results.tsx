import { useTranslation } from "react-i18next";
import { HighlightedSpans } from "#components/messages/highlighted-spans.tsx";
import { toPreviewParts } from "#components/messages/message-preview-text.ts";
import type { ConversationId } from "#contract/ids.ts";
import { searchTextOfBody } from "#contract/messages/body.ts";
import { type ChatPeople, getSenderName, useMentionedMembers } from "#features/chat/message/senders.ts";
import { formatTime } from "#i18n/format.ts";
import { formatTimeOrDate, isSameDay } from "#i18n/relative-date.ts";
import { useLanguage } from "#i18n/setup.ts";
import { getServerNow } from "#lib/browser/time/clock.ts";
import { balanceBidi } from "#lib/text/bidi.ts";
import { toExcerpt } from "#lib/text/search-matching.ts";
import type { SearchHit } from "#sync/queries/search/message-search.ts";

function ResultExcerpt({ text, query }: { text: string; query: string }) {
  const excerpt = toExcerpt(balanceBidi(text), query);
  return (
    <bdi className="line-clamp-3 text-start whitespace-pre-line [unicode-bidi:plaintext] [overflow-wrap:anywhere]">
      <HighlightedSpans {...excerpt} />
    </bdi>
  );
}

type SearchResultsProps = {
  results: SearchHit[];
  query: string;
  conversation: ConversationId;
  people: ChatPeople;
  onSelect: (message: SearchHit) => void;
  /** Undefined if there are no more results. */
  onShowMore: (() => void) | undefined;
};

/** Result list, newest first. A tap opens the message in the conversation. */
export function SearchResults({ results, query, conversation, people, ...props }: SearchResultsProps) {
  const { onSelect, onShowMore } = props;
  const { t } = useTranslation();
  const language = useLanguage();
  // Results may be from members without a message in the loaded part of the chat.
  const resultPeople = {
    ...people,
    members: useMentionedMembers(conversation, people.members?.ownNumber, results),
  };
  const formatWhen = (at: number) => {
    const date = formatTimeOrDate(at, language);
    return isSameDay(at, getServerNow()) ? date : `${date} ${formatTime(at, language)}`;
  };
  return (
    <div className="min-h-0 flex-1 overflow-y-auto overscroll-contain">
      <ul aria-label={t("chat.foundList")}>
        {results.map((message) => {
          const { icon, text: description } = toPreviewParts(message.body, t, undefined);
          return (
            <li key={message.key} className="border-b border-line">
              <button
                type="button"
                className="grid grid-cols-[minmax(0,1fr)] min-h-12 w-full gap-0.5 px-4 py-2.5 text-start outline-offset-[-3px] hover:bg-raised"
                onClick={() => onSelect(message)}
              >
                <span className="flex items-baseline justify-between gap-2 text-xs text-muted">
                  <bdi className="truncate font-semibold">
                    {message.mine ? t("common.you") : getSenderName(resultPeople, message.sender, t)}
                  </bdi>
                  <time dateTime={new Date(message.at).toISOString()} className="shrink-0 tabular-nums">
                    {formatWhen(message.at)}
                  </time>
                </span>
                <span className="flex items-start gap-1.5">
                  {icon && <span className={`${icon} mt-1 shrink-0 text-base text-muted`} aria-hidden="true" />}
                  <ResultExcerpt text={searchTextOfBody(message.body) || description} query={query} />
                </span>
              </button>
            </li>
          );
        })}
      </ul>
      {onShowMore && (
        <button
          type="button"
          className="min-h-12 w-full px-4 font-semibold text-accent hover:bg-raised"
          onClick={onShowMore}
        >
          {t("chat.moreResults")}
        </button>
      )}
    </div>
  );
}
