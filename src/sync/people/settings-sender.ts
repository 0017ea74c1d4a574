import * as v from "valibot";
import { VersionedSettings } from "#contract/settings.ts";
import { Retry } from "#sync/platform/retry.ts";
import { asSyncError, isRetryableFailure, SyncError } from "#sync/platform/sync-error.ts";
import {
  clearSentSettings,
  hasPendingSettings,
  mergeServerSettings,
  readSettingsRow,
  updateSettingsRow,
} from "#sync/store/settings-rows.ts";
import type { SyncContext } from "#sync/store/sync-context.ts";

/**
 * Sends changed settings until the server has them. `onRefused` is called if the server refuses a change for good; the
 * previous settings then apply again.
 */
export const createSettingsSender = (context: SyncContext, onRefused: () => void): Retry =>
  new Retry(context.platform, async () => {
    const { store } = context;
    const row = await readSettingsRow(store);
    if (!hasPendingSettings(row)) return "done";
    const { wanted } = row;
    const saved = await sendSettings(context, wanted);
    await updateSettingsRow(store, (now) => clearSentSettings(saved ? mergeServerSettings(now, saved) : now, wanted));
    if (!saved) onRefused();
    return "again"; // the settings may have changed meanwhile
  });

/** Resolves to the settings saved by the server, or to undefined if it refused them for good. Rejects with a SyncError. */
async function sendSettings({ platform }: SyncContext, wanted: object): Promise<VersionedSettings | undefined> {
  try {
    const answer = await platform.request({ method: "PATCH", path: "/api/settings", body: wanted });
    const parsed = v.safeParse(VersionedSettings, answer);
    if (!parsed.success) throw new SyncError("unavailable");
    return parsed.output;
  } catch (error) {
    if (isRetryableFailure(asSyncError(error))) throw error;
    return undefined;
  }
}
