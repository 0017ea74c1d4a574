import { useMemo, useState } from "react";
import { useTranslation } from "react-i18next";
import { type StoredBody, wordsOf } from "#contract/conversations.ts";
import type { ConversationId } from "#contract/ids.ts";
import { type ChatPeople, nameOfSender, useMembersOf } from "#features/chat/message/senders.ts";
import { formatTime } from "#i18n/format.ts";
import { formatTimeOrDate, isSameDay } from "#i18n/relative-date.ts";
import { useLanguage } from "#i18n/setup.ts";
import { serverNow } from "#lib/browser/clock.ts";
import { balance } from "#lib/text/bidi.ts";
import type { FoundMessage } from "#sync/actions.ts";
import { MarkedSpans } from "./search-highlight.tsx";
import { excerptOf } from "./search-matching.ts";

const firstRows = 50;

function Excerpt({ text, query }: { text: string; query: string }) {
  const excerpt = excerptOf(balance(text), query);
  return (
    <bdi className="line-clamp-3 text-start whitespace-pre-line [overflow-wrap:anywhere]">
      <MarkedSpans {...excerpt} />
    </bdi>
  );
}

const icons: Partial<Record<StoredBody["type"], string>> = { image: "i-ph-image", file: "i-ph-file" };

type SearchResultsProps = {
  found: FoundMessage[];
  query: string;
  conversation: ConversationId;
  people: ChatPeople;
  onPick: (message: FoundMessage) => void;
};

/** What was found, newest first; each leads to its place in the conversation. */
export function SearchResults({ found, query, conversation, people, onPick }: SearchResultsProps) {
  const { t } = useTranslation();
  const language = useLanguage();
  const [limit, setLimit] = useState(firstRows);
  const shown = useMemo(() => found.slice(0, limit), [found, limit]);
  // Older ones may be of members who wrote nothing of what the chat shows.
  const named = { ...people, members: useMembersOf(conversation, people.members?.own, shown) };
  const when = (at: number) => {
    const date = formatTimeOrDate(at, language);
    return isSameDay(at, serverNow()) ? date : `${date} ${formatTime(at, language)}`;
  };
  return (
    <div className="min-h-0 flex-1 overflow-y-auto overscroll-contain">
      <ul aria-label={t("chat.foundList")}>
        {shown.map((message) => (
          <li key={message.key} className="border-b border-line">
            <button
              type="button"
              className="grid grid-cols-[minmax(0,1fr)] min-h-12 w-full gap-0.5 px-4 py-2.5 text-start outline-offset-[-3px] hover:bg-raised"
              onClick={() => onPick(message)}
            >
              <span className="flex items-baseline justify-between gap-2 text-xs text-muted">
                <bdi className="truncate font-semibold">
                  {message.mine ? t("common.you") : nameOfSender(named, message.sender, t)}
                </bdi>
                <time dateTime={new Date(message.at).toISOString()} className="shrink-0 tabular-nums">
                  {when(message.at)}
                </time>
              </span>
              <span className="flex items-start gap-1.5">
                {icons[message.body.type] && (
                  <span
                    className={`${icons[message.body.type]} mt-1 shrink-0 text-base text-muted`}
                    aria-hidden="true"
                  />
                )}
                <Excerpt text={wordsOf(message.body)} query={query} />
              </span>
            </button>
          </li>
        ))}
      </ul>
      {found.length > limit && (
        <button
          type="button"
          className="min-h-12 w-full px-4 font-semibold text-accent hover:bg-raised"
          onClick={() => setLimit(limit + firstRows)}
        >
          {t("chat.moreResults")}
        </button>
      )}
    </div>
  );
}
