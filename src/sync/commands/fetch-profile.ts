import * as v from "valibot";
import { Profile } from "#contract/people.ts";
import { type LocalStore, ownProfileKey, type PersonRow } from "#sync/store/database.ts";
import { readOwnProfile } from "#sync/store/own-profile-row.ts";
import { toUnrelatedPersonRow } from "#sync/store/row-mapping.ts";
import type { SyncContext } from "#sync/store/sync-context.ts";

/**
 * Merges a fetched own profile that was requested when the stored one was `before`. Fields that changed since then may
 * be newer and are kept; unchanged fields take the fetched values.
 */
export const mergeFetchedProfile = (store: LocalStore, before: PersonRow | null, profile: Profile): Promise<void> =>
  store.transaction("rw", store.meta, async () => {
    const current = Object.entries((await readOwnProfile(store)) ?? {});
    const newer = current.filter(([field, value]) => value !== before?.[field as keyof PersonRow]);
    await store.meta.put({
      key: ownProfileKey,
      value: { ...toUnrelatedPersonRow(profile), ...Object.fromEntries(newer) },
    });
  });

/** Fetches the own profile. The server pushes its changes only, so a profile that never changed must be fetched. */
export const fetchOwnProfile = async ({ platform, store, me }: SyncContext): Promise<void> => {
  const before = await readOwnProfile(store);
  const answer = await platform.request({ method: "GET", path: `/api/users/${me}` });
  const parsed = v.safeParse(Profile, answer);
  if (parsed.success) await mergeFetchedProfile(store, before, parsed.output);
};
