import { startTransition, useEffect, useMemo, useState } from "react";
import { useTranslation } from "react-i18next";
import { type FiltersProps, SenderFilter } from "#components/controls/search-filters.tsx";
import { toDisplayName } from "#components/people/person-name.ts";
import type { Uuid } from "#contract/ids.ts";
import { locales } from "#i18n/locales.ts";
import { useLanguage } from "#i18n/setup.ts";
import type { ConversationListItem } from "#sync/hooks/use-conversations.ts";
import { useEngine, useLiveQuery } from "#sync/hooks/use-live-query.ts";
import { useContacts } from "#sync/hooks/use-people.ts";
import { listGroupPeople } from "#sync/queries/group-people.ts";

const choicesAfterMs = 300; // many choices would delay the first results, which are drawn together with this list

type PersonFilterProps = FiltersProps<Uuid> & { conversations: readonly ConversationListItem[] | undefined };

/**
 * Sender of the messages: this person, their contacts, and others they have a conversation with; people who are only in
 * a group with them once the list is about to be opened.
 */
export function PersonFilter({ conversations, ...filters }: PersonFilterProps) {
  const { t } = useTranslation();
  const language = useLanguage();
  const me = useEngine()?.client.context.get()?.me;
  const [isWanted, setWanted] = useState(filters.chosen.from !== undefined);
  const [hasChoices, setHasChoices] = useState(isWanted);
  useEffect(() => {
    const timer = setTimeout(() => startTransition(() => setHasChoices(true)), choicesAfterMs);
    return () => clearTimeout(timer);
  }, []);
  const contacts = useContacts();
  const members = useLiveQuery(isWanted ? "group people" : undefined, ({ store, me }) => listGroupPeople(store, me));
  const options = useMemo(() => {
    if (!isWanted && !hasChoices) return [];
    const peers = (conversations ?? []).flatMap(({ person }) => person ?? []);
    const people = new Map([...(members ?? []), ...peers, ...(contacts ?? [])].map((person) => [person.id, person]));
    const { compare } = new Intl.Collator(locales[language], { sensitivity: "base", numeric: true });
    const others = [...people.values()]
      .map((person) => ({ value: person.id, label: toDisplayName(person, t) }))
      .sort((a, b) => compare(a.label, b.label));
    return me === undefined ? others : [{ value: me, label: t("common.you") }, ...others];
  }, [conversations, contacts, members, isWanted, hasChoices, me, t, language]);
  return <SenderFilter {...filters} options={options} onOpen={() => setWanted(true)} />;
}
