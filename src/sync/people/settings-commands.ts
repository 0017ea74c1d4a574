import { getContext } from "#sync/outbox/enqueue.ts";
import { SyncError } from "#sync/platform/sync-error.ts";
import { withRoom } from "#sync/store/context.ts";
import { type SettingsWish, shownSettings, toChange, updateSettings } from "#sync/store/settings-rows.ts";
import type { Tab } from "#sync/tabs/tab.ts";

/** Keeps what a person changes of their settings, field by field, and has it brought to the server. */
export const wantSettings = async (tab: Tab, wish: SettingsWish): Promise<void> => {
  const context = getContext(tab);
  // Of two things that are changed one right after the other the second holds beside the first, shown already or not.
  const keep = () =>
    updateSettings(context.strict, (row) => ({
      ...row,
      wanted: { ...row.wanted, ...toChange(wish, shownSettings(row)) },
    }));
  await withRoom(context, keep).catch(() => {
    throw new SyncError("unavailable");
  });
  tab.written();
};
