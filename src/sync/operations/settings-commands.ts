import { SyncError } from "#sync/platform/sync-error.ts";
import {
  applyChange,
  type SettingsPatch,
  toEffectiveSettings,
  toSettingsChange,
  updateSettingsRow,
} from "#sync/store/settings-rows.ts";
import { retryOnQuotaError } from "#sync/store/sync-context.ts";
import { requireContext, type SyncPort } from "#sync/store/sync-port.ts";

/** Stores a change of the settings, field by field, and queues it for the server. Rejects with a SyncError. */
export const queueSettingsChange = async (port: SyncPort, patch: SettingsPatch): Promise<void> => {
  const context = requireContext(port);
  // Merged into the stored row, since the screen may not show a change made just before.
  const write = () =>
    updateSettingsRow(context.strict, (row) => ({
      ...row,
      wanted: applyChange(row.wanted, toSettingsChange(patch, toEffectiveSettings(row))),
      excepted: row.wanted.exceptions ? row.excepted : row.kept?.settings.exceptions,
    }));
  await retryOnQuotaError(context, write).catch(() => {
    throw new SyncError("unavailable");
  });
  port.notifyChanged("outbox");
};
