import { type GroupCandidates, isGroupActionAllowed } from "#contract/groups.ts";
import type { Uuid } from "#contract/ids.ts";
import { currentEngine } from "#sync/engine/engine.ts";
import type { LocalStore } from "#sync/store/database.ts";
import { runInBackground } from "#sync/store/sync-context.ts";

/** Key of the people with an unanswered invitation to a group, by group, as this device last heard of them. */
const invitedPeopleKey = "invitedPeople";

type InvitedPeople = GroupCandidates["invited"];

const readAll = async ({ meta }: LocalStore): Promise<Record<Uuid, InvitedPeople>> =>
  ((await meta.get(invitedPeopleKey))?.value as Record<Uuid, InvitedPeople> | undefined) ?? {};

/** People invited to a group; null if this device has never asked for them. */
export const readInvitedPeople = async (store: LocalStore, group: Uuid): Promise<InvitedPeople | null> =>
  (await readAll(store))[group] ?? null;

const changeInvitedPeople = (
  store: LocalStore,
  group: Uuid,
  change: (before: InvitedPeople) => InvitedPeople,
): Promise<void> =>
  store.transaction("rw", store.meta, store.conversations, async () => {
    const all = await readAll(store);
    const value: Record<Uuid, InvitedPeople> = { [group]: change(all[group] ?? []) };
    // Groups that this person left or handed over are forgotten.
    for (const row of await store.conversations.bulkGet(Object.keys(all))) {
      const people = row && row.id !== group && all[row.id];
      if (people && row.group && isGroupActionAllowed(row.group.role, "add")) value[row.id] = people;
    }
    if (JSON.stringify(value) !== JSON.stringify(all)) await store.meta.put({ key: invitedPeopleKey, value });
  });

const change = (group: Uuid, toPeople: (before: InvitedPeople) => InvitedPeople): void => {
  const context = currentEngine.get()?.client.context.get();
  if (context) runInBackground(context, changeInvitedPeople(context.store, group, toPeople));
};

/** Stores the invited people that the server listed, for the time without a network and for the other tabs. */
export const saveInvitedPeople = (group: Uuid, people: InvitedPeople): void => change(group, () => people);

/** Removes a person whose invitation was withdrawn. */
export const removeInvitedPerson = (group: Uuid, user: Uuid): void =>
  change(group, (before) => before.filter(({ profile }) => profile.id !== user));
