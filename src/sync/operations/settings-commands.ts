import {
  applyChange,
  readSettings,
  type SettingsPatch,
  toEffectiveSettings,
  toSettingsChange,
} from "#sync/store/settings-rows.ts";
import { commitUnsent } from "#sync/store/sync-context.ts";
import { requireContext, type SyncPort } from "#sync/store/sync-port.ts";
import { changedSettings } from "#sync/unsent/operations.ts";

/** Stores a change of the settings, field by field, and queues it for the server. Rejects with a SyncError. */
export const queueSettingsChange = async (port: SyncPort, patch: SettingsPatch): Promise<void> => {
  const context = requireContext(port);
  const { kept } = await readSettings(context);
  // Merged into the stored row, since the screen may not show a change made just before.
  const change = changedSettings.update({}, context.platform.now(), (row) => {
    const wanted = row?.wanted ?? {};
    const excepted = wanted.exceptions ? row?.excepted : kept?.settings.exceptions;
    return {
      wanted: applyChange(wanted, toSettingsChange(patch, toEffectiveSettings({ kept, wanted }))),
      ...(excepted ? { excepted } : {}),
    };
  });
  await commitUnsent(context, [change]);
  port.notifyChanged("outbox");
};
