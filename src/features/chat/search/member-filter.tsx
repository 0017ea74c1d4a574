import { useMemo, useState } from "react";
import { useTranslation } from "react-i18next";
import { type FiltersProps, SenderFilter } from "#components/controls/search-filters.tsx";
import { toNameOrNumber } from "#components/people/person-name.ts";
import type { ConversationId } from "#contract/ids.ts";
import { locales } from "#i18n/locales.ts";
import { useLanguage } from "#i18n/setup.ts";
import { useConversation } from "#sync/hooks/use-conversations.ts";
import { useGroupMembers } from "#sync/hooks/use-group.ts";

/** Sender of the messages, among the members of a group. */
export function MemberFilter({ group, ...filters }: FiltersProps & { group: ConversationId }) {
  const { t } = useTranslation();
  const language = useLanguage();
  const card = useConversation(group)?.group;
  // The list is not fetched for a search without this filter.
  const [isWanted, setWanted] = useState(filters.chosen.from !== undefined);
  const { members } = useGroupMembers(group, isWanted ? card?.roster : undefined);
  const options = useMemo(
    () =>
      (members ?? [])
        .map((member) => ({
          value: member.number,
          label:
            member.number === card?.number ? t("common.you") : toNameOrNumber(member) || t("common.deletedAccount"),
        }))
        .sort((a, b) => a.label.localeCompare(b.label, locales[language])),
    [members, card?.number, t, language],
  );
  return <SenderFilter {...filters} options={options} onOpen={() => setWanted(true)} />;
}
