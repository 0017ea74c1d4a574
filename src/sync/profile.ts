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
  const { store, platform, me } = context;
  const find = async () => JSON.stringify(await store.meta.get(meKey));
  const before = await find();
  const answer = await platform.request({ method: "GET", path: `/api/users/${me}` });
  const parsed = v.safeParse(Profile, answer);
  if (!parsed.success) return;
  await store.transaction("rw", store.meta, async () => {
    // What was changed meanwhile is newer than an answer that was on its way.
    if ((await find()) === before) await keepProfile(context, parsed.output);
  });
};
