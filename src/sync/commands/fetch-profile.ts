import * as v from "valibot";
import { Profile } from "#contract/people.ts";
import { mergeFetchedProfile, readOwnProfile } from "#sync/store/own-profile-row.ts";
import type { SyncContext } from "#sync/store/sync-context.ts";

/** Fetches the own profile. The server pushes its changes only, so a profile that never changed must be fetched. */
export const fetchOwnProfile = async ({ platform, store, me }: SyncContext): Promise<void> => {
  const before = await readOwnProfile(store);
  const answer = await platform.request({ method: "GET", path: `/api/users/${me}` });
  const parsed = v.safeParse(Profile, answer);
  if (parsed.success) await mergeFetchedProfile(store, before, parsed.output);
};
