import type { SecurityNotice } from "#contract/auth/security-notice.ts";
import type { Uuid } from "#contract/ids.ts";
import { currentEngine } from "#sync/engine/engine.ts";
import { useLiveQuery } from "#sync/hooks/use-live-query.ts";
import { securityNoticesQuery } from "#sync/queries/screen-queries.ts";
import { markNoticesSeen, markResetNoticesSeen } from "#sync/store/security-notice-rows.ts";

const noSecurityNotices: SecurityNotice[] = [];

const writeNotices = async (write: (store: Parameters<typeof markNoticesSeen>[0]) => Promise<void>): Promise<void> => {
  const context = currentEngine.get()?.client.context.get();
  // If the store cannot be written, the notices are shown once more.
  await (context && write(context.store).catch(() => undefined));
};

/** Security notices of the account that were not dismissed in any tab of this device, newest last. */
export const useSecurityNotices = (): SecurityNotice[] => useLiveQuery(...securityNoticesQuery) ?? noSecurityNotices;

/** Dismisses notices in all tabs. */
export const dismissNotices = (ids: readonly Uuid[]): Promise<void> =>
  writeNotices((store) => markNoticesSeen(store, ids));

/** Dismisses notices of a requested removal of the second factor, because the second factor stays. */
export const dismissResets = (): Promise<void> => writeNotices(markResetNoticesSeen);
