import type { Audience } from "#contract/settings/settings.ts";
import { readSettings, toEffectiveSettings } from "#sync/store/settings-rows.ts";
import type { SyncContext } from "#sync/store/sync-context.ts";

/** Audience of new statuses by the settings; undefined while this device has neither the server's nor changed ones. */
export const readDefaultAudience = async (
  context: Pick<SyncContext, "store" | "unsent">,
): Promise<Audience | undefined> => {
  const row = await readSettings(context);
  return row.kept ? toEffectiveSettings(row).statusesTo : row.wanted.statusesTo;
};
