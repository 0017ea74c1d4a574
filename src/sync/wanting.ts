import type { SettingsChange } from "../../contract/settings";
import { withRoom } from "./context";
import { updateSettings } from "./settings";
import { SyncError } from "./sync-error";
import type { Tab } from "./tab";
import { getContext } from "./writing";

/** Keeps what a person changes of their settings, field by field, and has it brought to the server. */
export const wantSettings = async (tab: Tab, change: SettingsChange): Promise<void> => {
  const context = getContext(tab);
  const keep = () => updateSettings(context.strict, (row) => ({ ...row, wanted: { ...row.wanted, ...change } }));
  await withRoom(context, keep).catch(() => {
    throw new SyncError("unavailable");
  });
  tab.written();
};
