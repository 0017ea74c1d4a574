import { useEffect, useRef, useState } from "react";
import type { ConversationId } from "../../../contract/ids";
import { searchQueryMaxLength } from "../../../contract/limits";
import { EmptyState } from "../../components/empty-state";
import { IconButton } from "../../components/icon-button";
import { SearchField } from "../../components/search-field";
import { useT } from "../../i18n/setup";
import { type FoundMessage, SyncError, searchChat } from "../../sync/actions";
import { SearchResults } from "./search-results";

const typingPauseMs = 250;

type Search = { state: "idle" | "running" | "complete" | "local"; found: FoundMessage[]; error?: SyncError["code"] };
const idle: Search = { state: "idle", found: [] };

/** Runs a search a moment after the typing pauses; what is found shows as it comes, and a newer query ends an older one. */
const useSearch = (conversation: ConversationId, query: string): Search => {
  const [search, setSearch] = useState(idle);
  useEffect(() => {
    if (query === "") {
      setSearch(idle);
      return;
    }
    const controller = new AbortController();
    const { signal } = controller;
    const update = (change: Partial<Search>) => {
      if (!signal.aborted) setSearch((search) => ({ ...search, ...change }));
    };
    const timer = setTimeout(() => {
      setSearch({ state: "running", found: [] });
      searchChat(conversation, query, (found) => update({ found }), signal).then(
        ({ complete }) => update({ state: complete ? "complete" : "local" }),
        (error: unknown) => update({ state: "local", error: error instanceof SyncError ? error.code : "internal" }),
      );
    }, typingPauseMs);
    return () => {
      clearTimeout(timer);
      controller.abort();
    };
  }, [conversation, query]);
  return search;
};

type SearchPanelProps = {
  conversation: ConversationId;
  name: string;
  onPick: (message: FoundMessage) => void;
  onClose: () => void;
};

/** Search through the whole history (SPEC.md §2): covers the messages while it is open. */
export default function SearchPanel({ conversation, name, onPick, onClose }: SearchPanelProps) {
  const t = useT();
  const [typed, setTyped] = useState("");
  const query = typed.trim();
  const { state, found, error } = useSearch(conversation, query);
  const panel = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const before = document.activeElement;
    panel.current?.querySelector("input")?.focus();
    return () => {
      if (before instanceof HTMLElement) before.focus({ preventScroll: true });
    };
  }, []);
  const isOver = state === "complete" || state === "local";
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: Escape closes from anywhere inside
    <div
      ref={panel}
      className="absolute inset-0 z-2 flex flex-col bg-bg"
      onKeyDown={(event) => {
        if (event.key !== "Escape" || event.nativeEvent.isComposing) return;
        event.preventDefault();
        onClose();
      }}
    >
      <div className="flex items-center gap-1 border-b border-line bg-surface py-2 pr-1 pl-3">
        <div className="min-w-0 flex-1">
          <SearchField
            label={t("chat.searchLabel")}
            value={typed}
            maxLength={searchQueryMaxLength}
            onChange={setTyped}
          />
        </div>
        <IconButton icon="i-ph-x" label={t("chat.closeSearch")} onClick={onClose} />
      </div>
      <p role="status" className="flex min-h-9 items-center gap-2 px-4 text-sm text-muted">
        {state === "running" && (
          <>
            <span className="i-ph-circle-notch animate-spin" aria-hidden="true" />
            {t("chat.searching")}
          </>
        )}
        {found.length > 0 && <span>{t("chat.found", { count: found.length })}</span>}
        {state === "idle" && t("chat.searchPrompt")}
      </p>
      {state === "local" && (
        <p className="px-4 pb-2 text-sm text-muted">
          {error === undefined || error === "offline" ? t("chat.searchOffline") : t(`errors.${error}`)}
        </p>
      )}
      {isOver && found.length === 0 && (
        <EmptyState
          icon="i-ph-magnifying-glass"
          title={t("chat.noneTitle")}
          body={<bdi>{t("chat.noneBody", { query })}</bdi>}
        />
      )}
      <SearchResults key={query} found={found} query={query} name={name} onPick={onPick} />
    </div>
  );
}
