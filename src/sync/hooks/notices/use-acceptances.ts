import { useEffect, useEffectEvent, useRef } from "react";
import type { Uuid } from "#contract/ids.ts";
import { useLiveQuery } from "#sync/hooks/use-live-query.ts";
import type { LocalStore, PersonRow } from "#sync/store/database.ts";

/** People with an unanswered request of this person, and ids of the contacts. */
export type RequestSnapshot = { sent: PersonRow[]; contacts: Uuid[] };

export const readRequestSnapshot = (store: LocalStore): Promise<RequestSnapshot> =>
  store.transaction("r", store.people, async () => ({
    sent: await store.people.where("state").equals("sent").toArray(),
    contacts: await store.people.where("state").equals("contact").primaryKeys(),
  }));

/** People who accepted a request between two snapshots. */
export const listAcceptedRequests = (before: RequestSnapshot, now: RequestSnapshot): PersonRow[] =>
  before.sent.filter(({ id }) => now.contacts.includes(id));

/**
 * Calls `onAccepted` for each person who accepts a request of this person. A page starts with the state stored on this
 * device, so requests that were accepted while no page was open are reported after the first sync.
 */
export const useAcceptances = (onAccepted: (person: PersonRow) => void): void => {
  const now = useLiveQuery("standings", ({ store }) => readRequestSnapshot(store));
  const before = useRef<RequestSnapshot>(undefined);
  const reportAccepted = useEffectEvent(onAccepted);
  useEffect(() => {
    if (!now) return;
    for (const person of before.current ? listAcceptedRequests(before.current, now) : []) reportAccepted(person);
    before.current = now;
  }, [now]);
};
