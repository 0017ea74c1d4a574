import { memo, startTransition, useEffect, useMemo, useState } from "react";
import { useTranslation } from "react-i18next";
import { Link } from "react-router";
import type { ChosenFilters } from "#components/controls/search-filters.tsx";
import { lazyComponent } from "#components/layout/lazy-component.tsx";
import { PersonListItem } from "#components/people/person-row.tsx";
import type { Uuid } from "#contract/ids.ts";
import { ConversationListRow, toConversationAvatar } from "#features/conversations/conversation-row.tsx";
import type { ConversationMenu } from "#features/conversations/use-conversation-menu.tsx";
import { loadWithTexts, useLanguage } from "#i18n/setup.ts";
import { matchesContact } from "#lib/text/match-contact.ts";
import { useConversations } from "#sync/hooks/use-conversations.ts";
import { useContacts } from "#sync/hooks/use-people.ts";

const MessageMatches = lazyComponent(() => loadWithTexts(() => import("./message-matches.tsx")));

const searchedConversationsMax = 1_000;
const resultsMax = 50; // of each kind; a longer query narrows the results
const firstResultsMax = 8; // of each kind, drawn with the first letter; they fill a screen

type ConversationSearchResultsProps = {
  query: string;
  /** Filters of messages, which need no query. */
  filters: ChosenFilters<Uuid>;
  menu: ConversationMenu;
  onFilter: (filters: ChosenFilters<Uuid>) => void;
};

/**
 * Search filters, conversations and contacts whose name or phone number matches the query, and messages. Without a
 * query and a filter it prepares the first search.
 */
export const ConversationSearchResults = memo(({ query, filters, menu, onFilter }: ConversationSearchResultsProps) => {
  const { t } = useTranslation();
  const language = useLanguage();
  const all = useConversations(searchedConversationsMax, "everything");
  // Until all are read, those of the list, which are in memory.
  const conversations = useConversations(all ? searchedConversationsMax : undefined, all ? "everything" : "all");
  const contacts = useContacts();
  const isRead = all !== undefined && contacts !== undefined;
  const hasQuery = query !== "";
  const [max, setMax] = useState(firstResultsMax);
  useEffect(() => startTransition(() => setMax(hasQuery ? resultsMax : firstResultsMax)), [hasQuery]);
  const found = useMemo(() => {
    if (query === "" || !conversations) return undefined;
    const listed = new Set(conversations.map(({ peer }) => peer));
    const { compare } = new Intl.Collator(language, { sensitivity: "base", numeric: true });
    return {
      items: conversations.filter((item) => matchesContact(query, toConversationAvatar(item))).slice(0, max),
      others: (contacts ?? [])
        .filter((contact) => !listed.has(contact.id) && matchesContact(query, contact))
        .sort((a, b) => compare(a.username || a.phone, b.username || b.phone))
        .slice(0, max),
    };
  }, [conversations, contacts, query, max, language]);
  const { items = [], others: otherContacts = [] } = found ?? {};
  const names = (
    <>
      {items.length > 0 && (
        <ul aria-label={t("masolo.list")}>
          {items.map((item) => (
            <li key={item.id} className="h-[4.75rem] border-b border-line">
              <ConversationListRow item={item} menu={menu} />
            </li>
          ))}
        </ul>
      )}
      {otherContacts.length > 0 && (
        <section aria-labelledby="other-contacts">
          <h2 id="other-contacts" className="px-4 pt-4 pb-1 text-sm font-semibold text-muted">
            {t("masolo.otherContacts")}
          </h2>
          <ul>
            {otherContacts.map((contact) => (
              <li key={contact.id} className="border-b border-line">
                <Link
                  to={`/app/chat/${contact.id}`}
                  className="flex min-h-18 items-center px-4 py-2 -outline-offset-3 hover:bg-raised"
                >
                  <PersonListItem person={contact} />
                </Link>
              </li>
            ))}
          </ul>
        </section>
      )}
    </>
  );
  return (
    <MessageMatches
      query={query}
      filters={filters}
      names={names}
      hasNoName={isRead && items.length + otherContacts.length === 0}
      conversations={conversations}
      onFilter={onFilter}
      fallback={<div className="min-h-0 flex-1 overflow-y-auto overscroll-contain">{names}</div>}
    />
  );
});
