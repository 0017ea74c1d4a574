import { useEffect, useEffectEvent, useRef } from "react";
import type { Uuid } from "#contract/ids.ts";
import type { PersonRow, Store } from "#sync/store/database.ts";
import { useLive } from "./use-live-query.ts";

/** Whom I asked and who has not answered, and with whom I am connected. */
export type Standings = { asked: PersonRow[]; contacts: Uuid[] };

export const readStandings = (store: Store): Promise<Standings> =>
  store.transaction("r", store.people, async () => ({
    asked: await store.people.where("state").equals("sent").toArray(),
    contacts: await store.people.where("state").equals("contact").primaryKeys(),
  }));

/** Who said yes between the two. */
export const listAcceptances = (before: Standings, now: Standings): PersonRow[] =>
  before.asked.filter(({ id }) => now.contacts.includes(id));

/**
 * Tells of everybody who accepts a request of mine. A page that is opened finds them as they stood when this phone last
 * heard of them, so that it also tells who did meanwhile.
 */
export const useAcceptances = (tell: (person: PersonRow) => void): void => {
  const now = useLive("standings", ({ store }) => readStandings(store));
  const before = useRef<Standings>(undefined);
  const tellOne = useEffectEvent(tell);
  useEffect(() => {
    if (!now) return;
    for (const person of before.current ? listAcceptances(before.current, now) : []) tellOne(person);
    before.current = now;
  }, [now]);
};
