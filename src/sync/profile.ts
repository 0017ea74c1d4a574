import * as v from "valibot";
import { Profile } from "../../contract/people";
import type { Context } from "./context";
import { toOwnRow } from "./rows";
import { meKey } from "./store";

export const keepProfile = async ({ store }: Context, profile: Profile): Promise<void> => {
  await store.meta.put({ key: meKey, value: toOwnRow(profile) });
};

/** The own profile as it is now: its changes are told, but who never had any was never told of it. */
export const fetchProfile = async (context: Context): Promise<void> => {
  const answer = await context.platform.request({ method: "GET", path: `/api/users/${context.me}` });
  const parsed = v.safeParse(Profile, answer);
  if (parsed.success) await keepProfile(context, parsed.output);
};
