import type { Profile, Relation } from "#contract/people.ts";
import { groupInvitationsKey, type LocalStore, ownProfileKey, type PersonRow } from "./database.ts";
import { toUnrelatedPersonRow } from "./row-mapping.ts";

export const readOwnProfile = async ({ meta }: LocalStore): Promise<PersonRow | null> =>
  ((await meta.get(ownProfileKey))?.value as PersonRow | undefined) ?? null;

/** Saves an own profile from the server. */
export const saveOwnProfile = async ({ meta }: LocalStore, profile: Profile): Promise<void> => {
  await meta.put({ key: ownProfileKey, value: toUnrelatedPersonRow(profile) });
};

/** Saves what the server pushed about this person: the profile and the number of invitations to groups. */
export const saveOwnRelation = async (store: LocalStore, { profile, group_invitations }: Relation): Promise<void> => {
  await saveOwnProfile(store, profile);
  await store.meta.put({ key: groupInvitationsKey, value: group_invitations ?? 0 });
};
