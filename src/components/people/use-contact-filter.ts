import { useDeferredValue, useMemo, useState } from "react";
import { useLanguage } from "#i18n/setup.ts";
import { matchesContact } from "#lib/text/match-contact.ts";

/** Sorts people by name in the reader's language and filters them by a search text. */
export const useContactFilter = <P extends { username: string; phone: string }>(people: readonly P[] | undefined) => {
  const [typed, setTyped] = useState("");
  const query = useDeferredValue(typed.trim());
  const language = useLanguage();
  const sorted = useMemo(() => {
    const { compare } = new Intl.Collator(language, { sensitivity: "base", numeric: true });
    return people && [...people].sort((a, b) => compare(a.username || a.phone, b.username || b.phone));
  }, [people, language]);
  const found = useMemo(() => sorted?.filter((person) => matchesContact(query, person)), [sorted, query]);
  return { typed, setTyped, query, sorted, found };
};
