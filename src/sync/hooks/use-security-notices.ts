import type { SecurityNotice } from "#contract/auth/security.ts";
import type { Uuid } from "#contract/ids.ts";
import { running } from "#sync/engine.ts";
import { putAway, putAwayResets, readUnseen } from "#sync/store/security-notice-rows.ts";
import { useLive } from "./use-live-query.ts";

const none: SecurityNotice[] = [];

const change = async (write: (store: Parameters<typeof putAway>[0]) => Promise<void>): Promise<void> => {
  const context = running.get()?.tab.context.get();
  // Where the phone cannot keep it they are told once more.
  await (context && write(context.store).catch(() => undefined));
};

/** What became of the account by another device and was not put away here, in whichever tab; the newest last. */
export const useSecurityNotices = (): SecurityNotice[] =>
  useLive("security-notices", ({ store, platform }) => readUnseen(store, platform.now())) ?? none;

/** They show no more, in any tab. */
export const dismissNotices = (ids: readonly Uuid[]): Promise<void> => change((store) => putAway(store, ids));

/** The second step stays: nothing is left to be warned of. */
export const dismissResets = (): Promise<void> => change(putAwayResets);
