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
 * Brings to the server what was changed of the settings on this phone, again and again until it has it. `refused`: the
 * server will never take what was changed, and it is as it was before.
 */
export const createSettingsSender = (context: SyncContext, refused: () => void): Retry =>
  new Retry(context.platform, async () => {
    const { store } = context;
    const row = await readSettingsRow(store);
    if (!hasPendingSettings(row)) return "done";
    const { wanted } = row;
    const kept = await sendSettings(context, wanted);
    await updateSettingsRow(store, (now) => clearSentSettings(kept ? mergeServerSettings(now, kept) : now, wanted));
    if (!kept) refused();
    return "again"; // it may have been changed meanwhile
  });

/** Undefined when it was refused for good. */
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
