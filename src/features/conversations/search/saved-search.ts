import { useEffect } from "react";
import type { ChosenFilters } from "#components/controls/search-filters.tsx";
import type { Uuid } from "#contract/ids.ts";

type SavedSearch = { query: string; filters: ChosenFilters<Uuid> };

const saveAfterMs = 100; // the search has its own history entry then (useBackButton)

const readState = (): { search?: SavedSearch } => history.state ?? {};

/** Search that was open before a reload, or before a chat was opened from it. */
export const readSavedSearch = (): SavedSearch => readState().search ?? { query: "", filters: {} };

/** Keeps the search in its history entry, which no server sees. */
export const useSavedSearch = (query: string, filters: ChosenFilters<Uuid>): void => {
  useEffect(() => {
    const timer = setTimeout(() => {
      const { search: _, ...state } = readState();
      const isOpen = query !== "" || Object.keys(filters).length > 0;
      history.replaceState(isOpen ? { ...state, search: { query, filters } } : state, "");
    }, saveAfterMs);
    return () => clearTimeout(timer);
  }, [query, filters]);
};
