import { useEffect, useEffectEvent, useRef } from "react";
import type { Uuid } from "#contract/ids.ts";
import type { LocalStore, PersonRow } from "#sync/store/database.ts";
import { useLiveQuery } from "./use-live-query.ts";

/** Whom I asked and who has not answered, and with whom I am connected. */
export type RequestSnapshot = { sent: PersonRow[]; contacts: Uuid[] };

export const readRequestSnapshot = (store: LocalStore): Promise<RequestSnapshot> =>
  store.transaction("r", store.people, async () => ({
    sent: await store.people.where("state").equals("sent").toArray(),
    contacts: await store.people.where("state").equals("contact").primaryKeys(),
  }));

/** Who said yes between the two. */
export const listAcceptedRequests = (before: RequestSnapshot, now: RequestSnapshot): PersonRow[] =>
  before.sent.filter(({ id }) => now.contacts.includes(id));

/**
 * Tells of everybody who accepts a request of mine. A page that is opened finds them as they stood when this phone last
 * heard of them, so that it also tells who did meanwhile.
 */
export const useAcceptances = (tell: (person: PersonRow) => void): void => {
  const now = useLiveQuery("standings", ({ store }) => readRequestSnapshot(store));
  const before = useRef<RequestSnapshot>(undefined);
  const tellOne = useEffectEvent(tell);
  useEffect(() => {
    if (!now) return;
    for (const person of before.current ? listAcceptedRequests(before.current, now) : []) tellOne(person);
    before.current = now;
  }, [now]);
};
