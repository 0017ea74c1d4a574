import * as v from "valibot";
import { Profile } from "../../contract/people";
import type { Context } from "./context";
import { toOwnRow } from "./rows";
import { meKey, type PersonRow, type Store } from "./store";

/** How often the server has told of the own profile by itself. */
export const countTold = async ({ meta }: Store): Promise<number> =>
  ((await meta.get(meKey))?.value as PersonRow | undefined)?.told ?? 0;

/** What the server tells of the own profile by itself. */
export const takeProfile = async (store: Store, profile: Profile): Promise<void> => {
  const told = (await countTold(store)) + 1;
  await store.meta.put({ key: meKey, value: { ...toOwnRow(profile), told } });
};

/** An answer, asked for when the server had told so often: what it told since may be newer. */
export const keepProfile = ({ store }: Context, profile: Profile, told: number): Promise<void> =>
  store.transaction("rw", store.meta, async () => {
    if ((await countTold(store)) === told) await store.meta.put({ key: meKey, value: { ...toOwnRow(profile), told } });
  });

/** The own profile as it is now: its changes are told, but who never had any was never told of it. */
export const fetchProfile = async (context: Context): Promise<void> => {
  const { store, platform, me } = context;
  const find = async () => JSON.stringify(await store.meta.get(meKey));
  const before = await find();
  const answer = await platform.request({ method: "GET", path: `/api/users/${me}` });
  const parsed = v.safeParse(Profile, answer);
  if (!parsed.success) return;
  await store.transaction("rw", store.meta, async () => {
    // What was changed here meanwhile, too, is newer than an answer that was on its way.
    if ((await find()) === before) await keepProfile(context, parsed.output, await countTold(store));
  });
};
