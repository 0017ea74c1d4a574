// @lazy-icons
import type { ReactNode } from "react";
import { useTranslation } from "react-i18next";
import { Link } from "react-router";
import { HighlightedSpans } from "#components/messages/highlighted-spans.tsx";
import { toDisplayName } from "#components/people/person-name.ts";
import { type StoredBody, searchTextOfBody } from "#contract/conversations.ts";
import { formatTimeOrDate } from "#i18n/relative-date.ts";
import { useLanguage } from "#i18n/setup.ts";
import { balanceBidi } from "#lib/text/bidi.ts";
import { toExcerpt } from "#lib/text/search-matching.ts";
import type { StoredResult } from "#sync/queries/stored-message-search.ts";
import { useStoredMessageSearch } from "./use-stored-message-search.ts";

const resultIcons: Partial<Record<StoredBody["type"], string>> = { image: "i-ph-image", file: "i-ph-file" };

/** Found message: its conversation and sender, and the text around the match. A tap opens the chat there. */
function MessageMatch({ result, query }: { result: StoredResult; query: string }) {
  const { t } = useTranslation();
  const language = useLanguage();
  const { conversation, seq, at, mine, body, group, peer, person, senderName } = result;
  const place = group ? group.name : toDisplayName(person, t);
  const sender = mine ? t("common.you") : group ? senderName || t("common.user") : undefined;
  const icon = resultIcons[body.type];
  return (
    <Link
      to={group ? `/app/group/${conversation}` : `/app/chat/${peer}`}
      state={{ openAt: seq }}
      className="grid min-h-12 grid-cols-[minmax(0,1fr)] gap-0.5 px-4 py-2.5 -outline-offset-3 hover:bg-raised"
    >
      <span className="flex items-baseline justify-between gap-2 text-xs text-muted">
        <span className="truncate">
          <bdi className="font-semibold">{place}</bdi>
          {sender !== undefined && (
            <>
              {" · "}
              <bdi>{sender}</bdi>
            </>
          )}
        </span>
        <time dateTime={new Date(at).toISOString()} className="shrink-0 tabular-nums">
          {formatTimeOrDate(at, language)}
        </time>
      </span>
      <span className="flex items-start gap-1.5">
        {icon && <span className={`${icon} mt-1 shrink-0 text-base text-muted`} aria-hidden="true" />}
        <bdi className="line-clamp-2 text-start [overflow-wrap:anywhere]">
          <HighlightedSpans {...toExcerpt(balanceBidi(searchTextOfBody(body)), query)} />
        </bdi>
      </span>
    </Link>
  );
}

type MessageMatchesProps = {
  query: string;
  /** Shown if nothing is found. */
  empty: ReactNode;
};

/** Messages on this device that match the query. */
export default function MessageMatches({ query, empty }: MessageMatchesProps) {
  const { t } = useTranslation();
  const { results, isRunning } = useStoredMessageSearch(query);
  if (results.length === 0) return isRunning ? null : empty;
  return (
    <section aria-labelledby="found-messages">
      <h2 id="found-messages" className="px-4 pt-4 pb-1 text-sm font-semibold text-muted">
        {t("masolo.foundMessages")}
      </h2>
      <ul>
        {results.map((result) => (
          <li key={`${result.conversation}:${result.seq}`} className="border-b border-line">
            <MessageMatch result={result} query={query} />
          </li>
        ))}
      </ul>
      <p className="px-4 py-3 text-sm text-muted">{t("masolo.foundMessagesHint")}</p>
    </section>
  );
}
