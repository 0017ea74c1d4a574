import * as v from "valibot";
import { Profile } from "#contract/people.ts";
import type { Context } from "#sync/store/context.ts";
import { keepAnswer, readMe } from "#sync/store/own-profile-row.ts";

/** The own profile as it is now: its changes are told, but who never had any was never told of it. */
export const fetchProfile = async ({ platform, store, me }: Context): Promise<void> => {
  const before = await readMe(store);
  const answer = await platform.request({ method: "GET", path: `/api/users/${me}` });
  const parsed = v.safeParse(Profile, answer);
  if (parsed.success) await keepAnswer(store, before, parsed.output);
};
