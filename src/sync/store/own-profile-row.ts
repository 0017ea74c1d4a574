import type { Profile } from "#contract/people.ts";
import { type LocalStore, ownProfileKey, type PersonRow } from "./database.ts";
import { toUnrelatedPersonRow } from "./row-mapping.ts";

export const readOwnProfile = async ({ meta }: LocalStore): Promise<PersonRow | null> =>
  ((await meta.get(ownProfileKey))?.value as PersonRow | undefined) ?? null;

/** What the server tells of the own profile by itself. */
export const saveOwnProfile = async ({ meta }: LocalStore, profile: Profile): Promise<void> => {
  await meta.put({ key: ownProfileKey, value: toUnrelatedPersonRow(profile) });
};

/**
 * An answer, asked for when the own profile was as `before`. What has become different since may be newer and stays;
 * that the rest was told once more, after a change just before this one, says nothing against the answer.
 */
export const mergeFetchedProfile = (store: LocalStore, before: PersonRow | null, profile: Profile): Promise<void> =>
  store.transaction("rw", store.meta, async () => {
    const now = Object.entries((await readOwnProfile(store)) ?? {});
    const newer = now.filter(([field, value]) => value !== before?.[field as keyof PersonRow]);
    await store.meta.put({
      key: ownProfileKey,
      value: { ...toUnrelatedPersonRow(profile), ...Object.fromEntries(newer) },
    });
  });
