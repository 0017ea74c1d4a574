import type { Profile } from "#contract/people.ts";
import { meKey, type PersonRow, type Store } from "./database.ts";
import { toOwnRow } from "./row-mapping.ts";

export const readMe = async ({ meta }: Store): Promise<PersonRow | null> =>
  ((await meta.get(meKey))?.value as PersonRow | undefined) ?? null;

/** What the server tells of the own profile by itself. */
export const takeProfile = async ({ meta }: Store, profile: Profile): Promise<void> => {
  await meta.put({ key: meKey, value: toOwnRow(profile) });
};

/**
 * An answer, asked for when the own profile was as `before`. What has become different since may be newer and stays;
 * that the rest was told once more, after a change just before this one, says nothing against the answer.
 */
export const keepAnswer = (store: Store, before: PersonRow | null, profile: Profile): Promise<void> =>
  store.transaction("rw", store.meta, async () => {
    const now = Object.entries((await readMe(store)) ?? {});
    const newer = now.filter(([field, value]) => value !== before?.[field as keyof PersonRow]);
    await store.meta.put({ key: meKey, value: { ...toOwnRow(profile), ...Object.fromEntries(newer) } });
  });
