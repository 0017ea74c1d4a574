import { type ReactNode, useDeferredValue, useMemo, useState } from "react";
import { useTranslation } from "react-i18next";
import { SearchField } from "#components/controls/search-field.tsx";
import { EmptyState } from "#components/layout/empty-state.tsx";
import { lazyComponent } from "#components/layout/lazy-component.tsx";
import type { MenuItem } from "#components/overlays/menu.tsx";
import { searchQueryMaxLength } from "#contract/limits.ts";
import { matchesContact } from "#lib/text/match-contact.ts";
import { GroupMemberRow } from "./group-member-row.tsx";
import type { GroupMemberView } from "./member-view.ts";

/** From this many on, those out of sight do not exist. */
const maxUnvirtualizedRows = 50;
/** From this many on there is a search. */
const maxMembersWithoutSearch = 20;
const VirtualMemberList = lazyComponent(() => import("./virtual-member-list.tsx"));

type GroupMemberListProps = {
  members: GroupMemberView[];
  count: number;
  scroller: HTMLElement | null;
  getMenuItems: (member: GroupMemberView) => MenuItem[];
  /** Stands between the search and the first member. */
  children?: ReactNode;
};

/** Everybody in the group, with a search where there are many. */
export function GroupMemberList({ members, count, scroller, getMenuItems, children }: GroupMemberListProps) {
  const { t } = useTranslation();
  const [typed, setTyped] = useState("");
  const query = useDeferredValue(typed.trim());
  const found = useMemo(() => members.filter((member) => matchesContact(query, member)), [members, query]);
  const label = t("groups.chat.members", { count });
  const line = (member: GroupMemberView) => <GroupMemberRow member={member} items={getMenuItems(member)} />;
  const plain = (shown: GroupMemberView[]) => (
    <ul aria-label={label}>
      {shown.map((member) => (
        <li key={member.number}>{line(member)}</li>
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
              fallback={plain(found.slice(0, maxUnvirtualizedRows))}
            >
              {line}
            </VirtualMemberList>
          ) : (
            plain(found)
          )}
        </div>
      )}
    </>
  );
}
