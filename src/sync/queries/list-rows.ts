import type { LocalConversationRow, LocalStore } from "#sync/store/database.ts";
import { type ListSection, listSections } from "#sync/store/list-sections.ts";
import { toDisplayedUnread, toEffectiveFlags } from "#sync/store/row-mapping.ts";
import type { ListFilter } from "#sync/store/view-models.ts";

/** Number of archived conversations. */
export const countArchived = (store: LocalStore): Promise<number> => store.queryListed(listSections.archived).count();

const isShown = (row: LocalConversationRow, filter: ListFilter): boolean => {
  if (filter === "unread") return toDisplayedUnread(row) > 0 || toEffectiveFlags(row).marked;
  return filter !== "groups" || row.kind === "group";
};

/** Rows of the list: pinned ones in the order of pinning, then the newest ones. Requires a transaction. */
export const readListRows = async (
  store: LocalStore,
  limit: number,
  filter: ListFilter,
): Promise<LocalConversationRow[]> => {
  const read = (section: ListSection) =>
    store
      .queryListed(section)
      .filter((row) => isShown(row, filter))
      .limit(limit)
      .toArray();
  const { archived, main, pinned } = listSections;
  if (filter === "archived") return read(archived);
  const parts = [read(pinned), read(main), ...(filter === "everything" ? [read(archived)] : [])];
  const [top = [], ...others] = await Promise.all(parts);
  const pinnedAt = (row: LocalConversationRow) => toEffectiveFlags(row).pinnedAt ?? 0;
  return [top.sort((a, b) => pinnedAt(a) - pinnedAt(b)), ...others].flat();
};

/** Flags of a row as the list shows them. */
export const toShownFlags = (row: LocalConversationRow): { marked: boolean; archived: boolean; pinned: boolean } => {
  const { marked, archived, pinnedAt } = toEffectiveFlags(row);
  return { marked, archived, pinned: pinnedAt !== null };
};
