import { type ReactNode, useDeferredValue, useMemo, useState } from "react";
import { useTranslation } from "react-i18next";
import { SearchField } from "#components/controls/search-field.tsx";
import { EmptyState } from "#components/layout/empty-state.tsx";
import { late } from "#components/layout/lazy-component.tsx";
import type { MenuItem } from "#components/overlays/menu.tsx";
import { searchQueryMaxLength } from "#contract/limits.ts";
import { matchesContact } from "#lib/text/match-contact.ts";
import { MemberLine } from "./member-line.tsx";
import type { ShownMember } from "./member-view.ts";

/** From this many on, those out of sight do not exist. */
const plainLinesMax = 50;
/** From this many on there is a search. */
const unsearchedMax = 20;
const VirtualMembers = late(() => import("./virtual-members.tsx"));

type MemberListProps = {
  members: ShownMember[];
  count: number;
  scroller: HTMLElement | null;
  itemsFor: (member: ShownMember) => MenuItem[];
  /** Stands between the search and the first member. */
  children?: ReactNode;
};

/** Everybody in the group, with a search where there are many. */
export function MemberList({ members, count, scroller, itemsFor, children }: MemberListProps) {
  const { t } = useTranslation();
  const [typed, setTyped] = useState("");
  const query = useDeferredValue(typed.trim());
  const found = useMemo(() => members.filter((member) => matchesContact(query, member)), [members, query]);
  const label = t("groups.chat.members", { count });
  const line = (member: ShownMember) => <MemberLine member={member} items={itemsFor(member)} />;
  const plain = (shown: ShownMember[]) => (
    <ul aria-label={label}>
      {shown.map((member) => (
        <li key={member.number}>{line(member)}</li>
      ))}
    </ul>
  );
  return (
    <>
      {members.length > unsearchedMax && (
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
          {found.length > plainLinesMax ? (
            <VirtualMembers
              members={found}
              label={label}
              scroller={scroller}
              fallback={plain(found.slice(0, plainLinesMax))}
            >
              {line}
            </VirtualMembers>
          ) : (
            plain(found)
          )}
        </div>
      )}
    </>
  );
}
