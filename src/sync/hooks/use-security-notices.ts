import type { SecurityNotice } from "#contract/auth/security.ts";
import type { Uuid } from "#contract/ids.ts";
import { activeEngine } from "#sync/engine.ts";
import { listUnseenNotices, markNoticesSeen, markResetNoticesSeen } from "#sync/store/security-notice-rows.ts";
import { useLiveQuery } from "./use-live-query.ts";

const noSecurityNotices: SecurityNotice[] = [];

const writeNotices = async (write: (store: Parameters<typeof markNoticesSeen>[0]) => Promise<void>): Promise<void> => {
  const context = activeEngine.get()?.tab.context.get();
  // Where the phone cannot keep it they are told once more.
  await (context && write(context.store).catch(() => undefined));
};

/** What became of the account by another device and was not put away here, in whichever tab; the newest last. */
export const useSecurityNotices = (): SecurityNotice[] =>
  useLiveQuery("security-notices", ({ store, platform }) => listUnseenNotices(store, platform.now())) ??
  noSecurityNotices;

/** They show no more, in any tab. */
export const dismissNotices = (ids: readonly Uuid[]): Promise<void> =>
  writeNotices((store) => markNoticesSeen(store, ids));

/** The second step stays: nothing is left to be warned of. */
export const dismissResets = (): Promise<void> => writeNotices(markResetNoticesSeen);
