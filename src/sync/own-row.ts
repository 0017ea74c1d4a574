import type { Profile } from "../../contract/people";
import { toOwnRow } from "./rows";
import { meKey, type PersonRow, type Store } from "./store";

/** How often the server has told of the own profile by itself. */
export const countTold = async ({ meta }: Store): Promise<number> =>
  ((await meta.get(meKey))?.value as PersonRow | undefined)?.told ?? 0;

const put = async ({ meta }: Store, profile: Profile, told: number): Promise<void> => {
  await meta.put({ key: meKey, value: { ...toOwnRow(profile), told } });
};

/** What the server tells of the own profile by itself. */
export const takeProfile = async (store: Store, profile: Profile): Promise<void> =>
  put(store, profile, (await countTold(store)) + 1);

/** An answer, asked for when the server had told so often: what it told since may be newer. */
export const keepProfile = (store: Store, profile: Profile, told: number): Promise<void> =>
  store.transaction("rw", store.meta, async () => {
    if ((await countTold(store)) === told) await put(store, profile, told);
  });
