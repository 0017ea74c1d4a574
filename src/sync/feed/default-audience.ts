import type { Audience } from "#contract/settings/settings.ts";
import type { LocalStore } from "#sync/store/database.ts";
import { readSettingsRow, toEffectiveSettings } from "#sync/store/settings-rows.ts";

/** Who sees new statuses by the settings; undefined while this device has neither the server's settings nor a change. */
export const readDefaultAudience = async (store: LocalStore): Promise<Audience | undefined> => {
  const row = await readSettingsRow(store);
  return row.kept ? toEffectiveSettings(row).statusesTo : row.wanted.statusesTo;
};
