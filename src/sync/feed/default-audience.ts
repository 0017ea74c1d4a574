import type { Audience } from "#contract/settings/settings.ts";
import type { LocalStore } from "#sync/store/database.ts";
import { readSettingsRow, toEffectiveSettings } from "#sync/store/settings-rows.ts";

/** Audience of new statuses by the settings; undefined while this device has neither the server's nor changed ones. */
export const readDefaultAudience = async (store: LocalStore): Promise<Audience | undefined> => {
  const row = await readSettingsRow(store);
  return row.kept ? toEffectiveSettings(row).statusesTo : row.wanted.statusesTo;
};
