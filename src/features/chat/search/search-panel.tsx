import { useEffect, useEffectEvent, useMemo, useRef, useState } from "react";
import { useTranslation } from "react-i18next";
import { IconButton } from "#components/controls/icon-button.tsx";
import { SearchField } from "#components/controls/search-field.tsx";
import { type ChosenFilters, SearchFilters, toSearchFilter } from "#components/controls/search-filters.tsx";
import { Spinner } from "#components/controls/spinner.tsx";
import { EmptyState } from "#components/layout/empty-state.tsx";
import { useBackButton } from "#components/overlays/back-button-layers.ts";
import type { ConversationId } from "#contract/ids.ts";
import { searchQueryMaxLength } from "#contract/limits/search.ts";
import { createMessageMatcher } from "#contract/wire/search-filter.ts";
import type { ChatPeople } from "#features/chat/message/senders.ts";
import { isComposingKey } from "#lib/browser/composing-key.ts";
import { createPartMatcher, findAdjacentResult, findMatches, toResultNumber } from "#lib/text/search-matching.ts";
import { useCurrentMessages } from "#sync/hooks/use-current-messages.ts";
import { MemberFilter } from "./member-filter.tsx";
import type { ActiveSearchResult } from "./search-highlight.tsx";
import { SearchResults } from "./search-results.tsx";
import { useChatSearch } from "./use-chat-search.ts";

const resultPageSize = 50;

type SearchPanelProps = {
  conversation: ConversationId;
  people: ChatPeople;
  /** Result shown in the message list; undefined while the result list covers the messages. */
  activeResult: ActiveSearchResult | undefined;
  /** Shows a result, or the result list again (undefined). */
  onSelect: (result: ActiveSearchResult | undefined) => void;
  onClose: () => void;
};

const toActiveResult = (query: string, seq: number): ActiveSearchResult => ({
  query,
  seq,
  findMatches: (text) => findMatches(text, query),
});

/**
 * Search through the whole history of a chat. While the user types, the result list covers the messages. Enter or a tap
 * opens a result; from there Enter and Shift+Enter (or the arrow buttons) step to the next older and newer one.
 */
export default function SearchPanel({ conversation, people, activeResult, onSelect, onClose }: SearchPanelProps) {
  const { t } = useTranslation();
  const [typed, setTyped] = useState("");
  const query = typed.trim();
  const [filters, setFilters] = useState<ChosenFilters>({});
  const filter = useMemo(() => toSearchFilter(filters), [filters]);
  const search = useChatSearch(conversation, query, filter);
  const { state, error, hasOlder } = search;
  const [shownMax, setShownMax] = useState(resultPageSize);
  // Thousands may be found. Those that are shown or about to be are kept current.
  const activeIndex = search.results.findIndex(({ seq }) => seq === activeResult?.seq);
  const currentMax = Math.max(shownMax, activeIndex + resultPageSize);
  const isMatch = createMessageMatcher(createPartMatcher(query), filter);
  const current = useCurrentMessages(search.results.slice(0, currentMax), isMatch);
  const results = [...current, ...search.results.slice(currentMax)];
  const panel = useRef<HTMLDivElement>(null);
  useBackButton(onClose);
  useEffect(() => {
    const previousFocus = document.activeElement;
    panel.current?.querySelector("input")?.focus();
    return () => {
      if (previousFocus instanceof HTMLElement) previousFocus.focus({ preventScroll: true });
    };
  }, []);

  // More results may arrive while the user steps through them: the position is kept as a `seq`, and its number derived.
  const seqs = results.map(({ seq }) => seq);
  const step = (direction: 1 | -1) => {
    const seq = activeResult ? findAdjacentResult(seqs, activeResult.seq, direction) : seqs[0];
    setOpensFirst(!activeResult);
    if (seq !== undefined) onSelect(toActiveResult(query, seq));
  };
  // Enter opens the first result, also if it arrives later or a newer one replaces it.
  const [opensFirst, setOpensFirst] = useState(false);
  const firstSeq = seqs[0];
  const activeSeq = activeResult?.seq;
  useEffect(() => {
    if (opensFirst && firstSeq !== undefined && firstSeq !== activeSeq) onSelect(toActiveResult(query, firstSeq));
  }, [opensFirst, firstSeq, activeSeq, query, onSelect]);
  const select = (next: ActiveSearchResult | undefined) => {
    setOpensFirst(false);
    onSelect(next);
  };

  const chooseFilters = (next: ChosenFilters) => {
    setFilters(next);
    setShownMax(resultPageSize);
    select(undefined);
  };

  const handleKey = useEffectEvent((event: KeyboardEvent) => {
    const { key, shiftKey, target } = event;
    if (isComposingKey(event) || event.defaultPrevented || !(target instanceof Element)) return;
    const isInChat = target === document.body || panel.current?.closest("[data-screen]")?.contains(target);
    // Menus and dialogs close by themselves.
    if (key === "Escape" && isInChat && !target.closest("dialog")) onClose();
    else if (key === "Enter" && shiftKey && target.matches("input") && panel.current?.contains(target)) step(-1);
    else return;
    event.preventDefault();
  });
  // While a result is shown, the focus may be anywhere in the chat, also nowhere: its button in the list is gone.
  useEffect(() => {
    const handleKeyDown = (event: KeyboardEvent) => handleKey(event);
    document.addEventListener("keydown", handleKeyDown);
    return () => document.removeEventListener("keydown", handleKeyDown);
  }, []);
  const isFinished = state === "complete" || state === "local";
  return (
    <div ref={panel} className={activeResult ? "z-2 shrink-0" : "absolute inset-0 z-2 flex flex-col bg-bg"}>
      <div className="flex flex-wrap items-center gap-x-1 border-b border-line bg-surface py-2 pr-1 pl-3">
        <div className="min-w-0 flex-1 basis-60">
          <SearchField
            label={t("chat.searchLabel")}
            placeholder={t("chat.search")}
            value={typed}
            maxLength={searchQueryMaxLength}
            onChange={(next) => {
              setTyped(next);
              setShownMax(resultPageSize);
              select(undefined);
            }}
            onSubmit={() => step(1)}
          />
        </div>
        {activeResult && (
          <div className="order-1 flex w-full items-center sm:order-none sm:w-auto">
            <p role="status" className="flex flex-1 items-center gap-2 px-2 text-sm text-muted tabular-nums">
              {t("chat.foundAt", { at: toResultNumber(seqs, activeResult.seq), count: results.length })}
              {state === "running" && <Spinner className="text-base" />}
            </p>
            <IconButton
              icon="i-ph-list-magnifying-glass"
              label={t("chat.foundList")}
              onClick={() => select(undefined)}
            />
            <IconButton icon="i-ph-caret-up-bold" label={t("chat.nextFound")} onClick={() => step(1)} />
            <IconButton icon="i-ph-caret-down-bold" label={t("chat.previousFound")} onClick={() => step(-1)} />
          </div>
        )}
        <IconButton icon="i-ph-x" label={t("chat.closeSearch")} onClick={onClose} />
      </div>
      {!activeResult && (
        <>
          <SearchFilters
            people={people.members && <MemberFilter group={conversation} chosen={filters} onChange={chooseFilters} />}
            chosen={filters}
            onChange={chooseFilters}
          />
          <p role="status" className="flex min-h-9 items-center gap-2 px-4 text-sm text-muted">
            {state === "running" && (
              <>
                <Spinner className="text-base" />
                {t("chat.searching")}
              </>
            )}
            {results.length > 0 && <span>{t("chat.found", { count: results.length })}</span>}
            {state === "idle" && t("chat.searchPrompt")}
          </p>
          {state === "local" && (
            <p className="px-4 pb-2 text-sm text-muted">
              {error === undefined || error === "offline" ? t("chat.searchOffline") : t(`errors.${error}`)}
            </p>
          )}
          {isFinished && results.length === 0 && (
            <EmptyState
              icon="i-ph-magnifying-glass"
              title={t("chat.noneTitle")}
              body={
                filter ? (
                  t("searchFilters.none")
                ) : (
                  <>
                    <bdi>{t(hasOlder || state === "local" ? "chat.noneOnDevice" : "chat.noneBody", { query })}</bdi>
                    {hasOlder && ` ${t("chat.olderByWords")}`}
                  </>
                )
              }
            />
          )}
          <SearchResults
            key={JSON.stringify([query, filter])}
            results={results.slice(0, shownMax)}
            query={query}
            conversation={conversation}
            people={people}
            onSelect={({ seq }) => select(toActiveResult(query, seq))}
            onShowMore={results.length > shownMax ? () => setShownMax(shownMax + resultPageSize) : undefined}
          />
        </>
      )}
    </div>
  );
}
