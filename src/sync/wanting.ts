import { withRoom } from "./context";
import { type SettingsWish, shownSettings, toChange, updateSettings } from "./settings";
import { SyncError } from "./sync-error";
import type { Tab } from "./tab";
import { getContext } from "./writing";

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
