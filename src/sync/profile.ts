import * as v from "valibot";
import { Profile } from "../../contract/people";
import type { Context } from "./context";
import { countTold, keepProfile } from "./own-row";
import { meKey } from "./store";

/** The own profile as it is now: its changes are told, but who never had any was never told of it. */
export const fetchProfile = async ({ platform, store, me }: Context): Promise<void> => {
  const find = async () => JSON.stringify(await store.meta.get(meKey));
  const before = await find();
  const answer = await platform.request({ method: "GET", path: `/api/users/${me}` });
  const parsed = v.safeParse(Profile, answer);
  if (!parsed.success) return;
  await store.transaction("rw", store.meta, async () => {
    // What was changed here meanwhile, too, is newer than an answer that was on its way.
    if ((await find()) === before) await keepProfile(store, parsed.output, await countTold(store));
  });
};
