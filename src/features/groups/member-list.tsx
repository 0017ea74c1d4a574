import { type ReactNode, useDeferredValue, useMemo, useState } from "react";
import { useTranslation } from "react-i18next";
import { searchQueryMaxLength } from "../../../contract/limits";
import { EmptyState } from "../../components/empty-state";
import { late } from "../../components/late";
import type { MenuItem } from "../../components/menu";
import { SearchField } from "../../components/search-field";
import { matchesContact } from "../../lib/match-contact";
import { MemberLine } from "./member-line";
import type { ShownMember } from "./shown-member";

/** From this many on, those out of sight do not exist. */
const plainLinesMax = 50;
/** From this many on there is a search. */
const unsearchedMax = 20;
const VirtualMembers = late(() => import("./virtual-members"));

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
