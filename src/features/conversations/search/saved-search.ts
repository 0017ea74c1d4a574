import { useEffect } from "react";
import type { ChosenFilters } from "#components/controls/search-filters.tsx";
import type { Uuid } from "#contract/ids.ts";
import { getSession } from "#lib/session/session.ts";

type Search = { query: string; filters: ChosenFilters<Uuid> };
type SavedSearch = Search & { of: Uuid };

const saveAfterMs = 100; // the search has its own history entry then (useBackButton)

const readState = (): { search?: SavedSearch } => history.state ?? {};

/** Search of this person that was open before a reload. Another one may have signed in since it was saved. */
export const readSavedSearch = (): Search => {
  const { search } = readState();
  return search && search.of === getSession()?.userId ? search : { query: "", filters: {} };
};

/**
 * Keeps the search in its history entry, which no server sees. A search that is closed is removed at once: the page may
 * be reloaded or left at any time.
 */
export const useSavedSearch = (query: string, filters: ChosenFilters<Uuid>): void => {
  useEffect(() => {
    const { search, ...state } = readState();
    if (query === "" && Object.keys(filters).length === 0) {
      if (search) history.replaceState(state, "");
      return;
    }
    const save = () => {
      const of = getSession()?.userId;
      history.replaceState({ ...history.state, search: { query, filters, of } }, "");
    };
    const timer = setTimeout(save, saveAfterMs);
    return () => clearTimeout(timer);
  }, [query, filters]);
};
