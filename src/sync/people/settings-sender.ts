import * as v from "valibot";
import { type SettingsChange, VersionedSettings } from "#contract/settings/settings.ts";
import type { OperationSender } from "#sync/outbox/operation-runner.ts";
import { SyncError } from "#sync/platform/sync-error.ts";
import { clearSentSettings, mergeServerSettings, updateSettingsRow } from "#sync/store/settings-rows.ts";
import type { SyncContext } from "#sync/store/sync-context.ts";

/**
 * Sends changed settings. `onRefused` is called if the server refuses a change for good; the previous settings then apply
 * again.
 */
export const createSettingsSender = (
  { platform, store }: SyncContext,
  onRefused: () => void,
): OperationSender<SettingsChange> => ({
  async send(wanted) {
    const answer = await platform.request({ method: "PATCH", path: "/api/settings", body: wanted });
    const saved = v.safeParse(VersionedSettings, answer);
    if (!saved.success) throw new SyncError("unavailable");
    await updateSettingsRow(store, (row) => clearSentSettings(mergeServerSettings(row, saved.output), wanted));
  },
  async handleRefusal(wanted) {
    await updateSettingsRow(store, (row) => clearSentSettings(row, wanted));
    onRefused();
  },
});
