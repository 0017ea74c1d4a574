import { getContext } from "#sync/outbox/enqueue.ts";
import { SyncError } from "#sync/platform/sync-error.ts";
import {
  type SettingsPatch,
  toEffectiveSettings,
  toSettingsChange,
  updateSettingsRow,
} from "#sync/store/settings-rows.ts";
import { retryOnQuotaError } from "#sync/store/sync-context.ts";
import type { Tab } from "#sync/tabs/tab.ts";

/** Keeps what a person changes of their settings, field by field, and has it brought to the server. */
export const queueSettingsChange = async (tab: Tab, wish: SettingsPatch): Promise<void> => {
  const context = getContext(tab);
  // Of two things that are changed one right after the other the second holds beside the first, shown already or not.
  const keep = () =>
    updateSettingsRow(context.strict, (row) => ({
      ...row,
      wanted: { ...row.wanted, ...toSettingsChange(wish, toEffectiveSettings(row)) },
    }));
  await retryOnQuotaError(context, keep).catch(() => {
    throw new SyncError("unavailable");
  });
  tab.notifyOutboxChanged();
};
