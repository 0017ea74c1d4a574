import { type ReactNode, useMemo, useState } from "react";
import { useTranslation } from "react-i18next";
import { Link } from "react-router";
import { Button } from "#components/controls/button.tsx";
import { type ChosenFilters, SearchFilters, toSearchFilter } from "#components/controls/search-filters.tsx";
import { Spinner } from "#components/controls/spinner.tsx";
import { EmptyState } from "#components/layout/empty-state.tsx";
import { HighlightedSpans } from "#components/messages/highlighted-spans.tsx";
import { toPreviewParts } from "#components/messages/message-preview-text.ts";
import { toDisplayName } from "#components/people/person-name.ts";
import type { Uuid } from "#contract/ids.ts";
import { searchTextOfBody } from "#contract/messages/body.ts";
import { createMessageMatcher } from "#contract/wire/search-filter.ts";
import { formatTimeOrDate } from "#i18n/relative-date.ts";
import { useLanguage } from "#i18n/setup.ts";
import { balanceBidi } from "#lib/text/bidi.ts";
import { createPartMatcher, toExcerpt } from "#lib/text/search-matching.ts";
import type { ConversationListItem } from "#sync/hooks/use-conversations.ts";
import { useCurrentMessages } from "#sync/hooks/use-current-messages.ts";
import { useMemberProfiles } from "#sync/hooks/use-member-profiles.ts";
import type { FoundMessage } from "#sync/queries/search/stored-message-search.ts";
import { PersonFilter } from "./person-filter.tsx";
import { useGlobalSearch } from "./use-global-search.ts";

/** Name of the sender of a message in a group, fetched if this device does not have it. */
const useSenderName = ({ conversation, group, mine, sender, senderName }: FoundMessage): string | undefined => {
  const isUnknown = group !== null && !mine && senderName === undefined;
  const profiles = useMemberProfiles(isUnknown ? conversation : undefined, [sender]);
  return senderName ?? profiles[sender]?.name;
};

/** Link of the message that was opened last. */
let lastOpened: string | undefined;

/** Focuses the opened message when its list is shown again, unless the focus is elsewhere already. */
const focusOnReturn = (link: HTMLElement | null): void => {
  if (!link) return;
  lastOpened = undefined;
  if (document.activeElement === document.body) link.focus();
};

/** Found message: its conversation and sender, and the text around the match. A tap opens the chat there. */
function MessageMatch({ result, query }: { result: FoundMessage; query: string }) {
  const { t } = useTranslation();
  const language = useLanguage();
  const { conversation, seq, at, mine, body, group, peer, person } = result;
  const senderName = useSenderName(result);
  const key = `${conversation}:${seq}:${query}`;
  const [wasOpened] = useState(key === lastOpened);
  const place = group ? group.name : toDisplayName(person, t);
  const sender = mine ? t("common.you") : group ? senderName || t("common.user") : undefined;
  const { icon, text: description } = toPreviewParts(body, t, undefined, { isMine: mine, peerName: place });
  return (
    <Link
      to={group ? `/app/group/${conversation}` : `/app/chat/${peer}`}
      state={{ openAt: seq }}
      ref={wasOpened ? focusOnReturn : undefined}
      onClick={() => {
        lastOpened = key;
      }}
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
          <HighlightedSpans {...toExcerpt(balanceBidi(searchTextOfBody(body) || description), query)} />
        </bdi>
      </span>
    </Link>
  );
}

type ResultListProps = { id: string; title: string; results: readonly FoundMessage[]; query: string };

function ResultList({ id, title, results, query }: ResultListProps) {
  if (results.length === 0) return null;
  return (
    <section aria-labelledby={id}>
      <h2 id={id} className="px-4 pt-4 pb-1 text-sm font-semibold text-muted">
        {title}
      </h2>
      <ul>
        {results.map((result) => (
          <li key={`${result.conversation}:${result.seq}`} className="border-b border-line">
            <MessageMatch result={result} query={query} />
          </li>
        ))}
      </ul>
    </section>
  );
}

type MessageMatchesProps = {
  query: string;
  filters: ChosenFilters<Uuid>;
  /** Names that match the query, shown above the messages. */
  names: ReactNode;
  /** Whether all names were compared and none matches. */
  hasNoName: boolean;
  conversations: readonly ConversationListItem[] | undefined;
  onFilter: (filters: ChosenFilters<Uuid>) => void;
};

/**
 * Search in the messages of all conversations: filters, then the results on this device and older ones that the server
 * has. Filters apply to messages only: with them no names are shown. Without a query and a filter it is drawn
 * invisibly.
 */
export default function MessageMatches(props: MessageMatchesProps) {
  const { query, filters: chosen, names, hasNoName, conversations, onFilter } = props;
  const { t } = useTranslation();
  const filter = useMemo(() => toSearchFilter(chosen), [chosen]);
  const { state, error, isLimited, hasOlder, showMore, ...found } = useGlobalSearch(query, filter);
  const isMatch = createMessageMatcher(createPartMatcher(query), { ...filter, from: undefined }); // an edit leaves the sender
  const stored = useCurrentMessages(found.stored, isMatch);
  const older = useCurrentMessages(found.older, isMatch);
  const count = stored.length + older.length;
  const isOffline = error === "offline";
  const hasNoMatch = filter !== undefined || hasNoName;
  return (
    <>
      <SearchFilters
        people={<PersonFilter conversations={conversations} chosen={chosen} onChange={onFilter} />}
        chosen={chosen}
        onChange={onFilter}
      />
      <div className="min-h-0 flex-1 overflow-y-auto overscroll-contain">
        {!filter && names}
        <ResultList id="found-messages" title={t("masolo.foundMessages")} results={stored} query={query} />
        <ResultList id="older-messages" title={t("masolo.olderMessages")} results={older} query={query} />
        {count === 0 && (state === "complete" || state === "failed") && hasNoMatch && (
          <div role="status">
            <EmptyState
              icon="i-ph-binoculars"
              title={t("masolo.noMatchTitle")}
              body={
                filter ? (
                  t("searchFilters.none")
                ) : (
                  <>
                    <bdi>{t("masolo.noMatchBody", { query })}</bdi>
                    {hasOlder && ` ${t("chat.olderByWords")}`}
                  </>
                )
              }
            />
          </div>
        )}
        <div className="grid gap-3 px-4 py-3 text-sm text-muted">
          <p role="status" className={state === "running" ? "flex items-center gap-2" : "sr-only"}>
            {state === "running" ? (
              <>
                <Spinner className="text-base" />
                {t("masolo.searchingMessages")}
              </>
            ) : (
              count > 0 && t("masolo.foundCount", { count })
            )}
          </p>
          {error !== undefined && <p>{isOffline ? t("masolo.searchOffline") : t(`errors.${error}`)}</p>}
          {(state === "more" || state === "failed") && (
            <Button variant="secondary" className="w-full" onClick={showMore}>
              {t("masolo.moreMessages")}
            </Button>
          )}
          {state === "complete" && isLimited && <p>{t("masolo.foundMessagesHint")}</p>}
        </div>
      </div>
    </>
  );
}
