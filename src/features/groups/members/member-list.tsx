import { type ReactNode, useDeferredValue, useMemo, useState } from "react";
import { useTranslation } from "react-i18next";
import { SearchField } from "#components/controls/search-field.tsx";
import { EmptyState } from "#components/layout/empty-state.tsx";
import { lazyComponent } from "#components/layout/lazy-component.tsx";
import type { MenuItem } from "#components/overlays/menu.tsx";
import { searchQueryMaxLength } from "#contract/limits/search.ts";
import { matchesContact } from "#lib/text/match-contact.ts";
import { GroupMemberRow } from "./group-member-row.tsx";
import type { GroupMemberView } from "./member-view.ts";

/** Longer lists are virtualized. */
const maxUnvirtualizedRows = 50;
/** Longer lists get a search field. */
const maxMembersWithoutSearch = 20;
const VirtualMemberList = lazyComponent(() => import("./virtual-member-list.tsx"));

type GroupMemberListProps = {
  members: GroupMemberView[];
  count: number;
  scroller: HTMLElement | null;
  getMenuItems: (member: GroupMemberView) => MenuItem[];
  /** Rendered between the search field and the first member. */
  children?: ReactNode;
};

/** Members of a group, with a search field for long lists. */
export function GroupMemberList({ members, count, scroller, getMenuItems, children }: GroupMemberListProps) {
  const { t } = useTranslation();
  const [typed, setTyped] = useState("");
  const query = useDeferredValue(typed.trim());
  const found = useMemo(() => members.filter((member) => matchesContact(query, member)), [members, query]);
  const label = t("groups.chat.members", { count });
  const renderRow = (member: GroupMemberView) => <GroupMemberRow member={member} items={getMenuItems(member)} />;
  const renderPlainList = (shown: GroupMemberView[]) => (
    <ul aria-label={label}>
      {shown.map((member) => (
        <li key={member.number}>{renderRow(member)}</li>
      ))}
    </ul>
  );
  return (
    <>
      {members.length > maxMembersWithoutSearch && (
        <div className="p-4 pt-0">
          <SearchField
            label={t("groups.page.searchLabel")}
            maxLength={searchQueryMaxLength}
            value={typed}
            onChange={setTyped}
          />
        </div>
      )}
      {query === "" && children}
      {found.length === 0 && query !== "" && (
        <div role="status">
          <EmptyState
            icon="i-ph-binoculars"
            title={t("groups.page.noMatchTitle")}
            body={t("groups.page.noMatchBody", { query })}
          />
        </div>
      )}
      {found.length > 0 && (
        <div className="overflow-hidden border-b border-line sm:mx-4 sm:rounded-card sm:border-x">
          {found.length > maxUnvirtualizedRows ? (
            <VirtualMemberList
              members={found}
              label={label}
              scroller={scroller}
              fallback={renderPlainList(found.slice(0, maxUnvirtualizedRows))}
            >
              {renderRow}
            </VirtualMemberList>
          ) : (
            renderPlainList(found)
          )}
        </div>
      )}
    </>
  );
}

type StaleListNoteProps = {
  /** Number of listed members; undefined before the list is loaded. */
  shown: number | undefined;
  /** Number of members of the group. */
  count: number;
  state: "loading" | "ready" | "failed";
};

/** Status text for a member list that is incomplete or may be outdated. */
export function StaleListNote({ shown, count, state }: StaleListNoteProps) {
  const { t } = useTranslation();
  const note = () => {
    if (shown === undefined || state === "ready") return undefined;
    if (shown >= count) return state === "failed" ? t("groups.page.outdated") : undefined;
    return t(state === "failed" ? "groups.page.incomplete" : "groups.page.loadingRest");
  };
  const text = note();
  // Always rendered: some screen readers do not announce a status element that is inserted together with its text.
  return <div role="status">{text !== undefined && <p className="px-4 pb-3 text-muted">{text}</p>}</div>;
}
