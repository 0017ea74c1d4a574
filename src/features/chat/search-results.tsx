import { useState } from "react";
import { formatTime } from "../../i18n/format";
import { formatTimeOrDate, isSameDay } from "../../i18n/relative-date";
import { useLanguage, useT } from "../../i18n/setup";
import type { FoundMessage } from "../../sync/actions";
import { excerptOf } from "./match";

const firstRows = 50;

function Excerpt({ text, query }: { text: string; query: string }) {
  const excerpt = excerptOf(text, query);
  let end = 0;
  const parts = excerpt.spans.flatMap((span) => {
    const between = excerpt.text.slice(end, span.start);
    end = span.end;
    return [
      between,
      <mark key={span.start} className="rounded-sm bg-own font-semibold text-text">
        {excerpt.text.slice(span.start, span.end)}
      </mark>,
    ];
  });
  return (
    <bdi className="line-clamp-3 text-start whitespace-pre-line [overflow-wrap:anywhere]">
      {parts}
      {excerpt.text.slice(end)}
    </bdi>
  );
}

type SearchResultsProps = {
  found: FoundMessage[];
  query: string;
  name: string;
  onPick: (message: FoundMessage) => void;
};

/** What was found, newest first; each leads to its place in the conversation. */
export function SearchResults({ found, query, name, onPick }: SearchResultsProps) {
  const t = useT();
  const language = useLanguage();
  const [shown, setShown] = useState(firstRows);
  const when = (at: number) => {
    const date = formatTimeOrDate(at, language);
    return isSameDay(at, Date.now()) ? date : `${date} ${formatTime(at, language)}`;
  };
  return (
    <div className="min-h-0 flex-1 overflow-y-auto overscroll-contain">
      <ul>
        {found.slice(0, shown).map((message) => (
          <li key={message.key} className="border-b border-line">
            <button
              type="button"
              className="grid min-h-12 w-full gap-0.5 px-4 py-2.5 text-start outline-offset-[-3px] hover:bg-raised"
              onClick={() => onPick(message)}
            >
              <span className="flex items-baseline justify-between gap-2 text-xs text-muted">
                <bdi className="truncate font-semibold">{message.mine ? t("common.you") : name}</bdi>
                <time dateTime={new Date(message.at).toISOString()} className="shrink-0 tabular-nums">
                  {when(message.at)}
                </time>
              </span>
              {message.body.type === "text" && <Excerpt text={message.body.text} query={query} />}
            </button>
          </li>
        ))}
      </ul>
      {found.length > shown && (
        <button
          type="button"
          className="min-h-12 w-full px-4 font-semibold text-accent hover:bg-raised"
          onClick={() => setShown(shown + firstRows)}
        >
          {t("chat.moreResults")}
        </button>
      )}
    </div>
  );
}
