import { groupInvitationsKey, type LocalStore, type PersonRow } from "#sync/store/database.ts";
import { isCaughtUp, readSyncCursor } from "#sync/store/sync-cursor.ts";

export const readBlockedPeople = async (store: LocalStore): Promise<PersonRow[]> =>
  (await store.people.where("blocked").equals(1).toArray()).sort(compareByName);

const compareByName = (a: PersonRow, b: PersonRow): number => a.username.localeCompare(b.username);

/** People in one of these states; undefined while there are none and the inbox is not fully synced. */
const readPeople = (store: LocalStore, ...states: PersonRow["state"][]): Promise<PersonRow[] | undefined> =>
  store.transaction("r", [store.people, store.meta], async () => {
    const people = await store.people.where("state").anyOf(states).toArray();
    return people.length > 0 || isCaughtUp(await readSyncCursor(store)) ? people : undefined;
  });

export const readContacts = async (store: LocalStore): Promise<PersonRow[] | undefined> =>
  (await readPeople(store, "contact"))?.sort(compareByName);

export const readContactRequests = async (
  store: LocalStore,
): Promise<{ received: PersonRow[]; sent: PersonRow[]; invitations: number } | undefined> => {
  const people = await readPeople(store, "received", "sent");
  people?.sort((a, b) => b.since - a.since);
  return (
    people && {
      invitations: ((await store.meta.get(groupInvitationsKey))?.value as number | undefined) ?? 0,
      received: people.filter((person) => person.state === "received"),
      sent: people.filter((person) => person.state === "sent"),
    }
  );
};
