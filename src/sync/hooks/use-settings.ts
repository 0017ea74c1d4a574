import { useEffect, useSyncExternalStore } from "react";
import { defaultSettings, type Settings } from "#contract/settings.ts";
import { activeEngine, type SyncEngine } from "#sync/engine.ts";
import { queueSettingsChange } from "#sync/people/settings-commands.ts";
import { SyncError } from "#sync/platform/sync-error.ts";
import {
  readSettingsCache,
  readSettingsRow,
  type SettingsPatch,
  toEffectiveSettings,
  writeSettingsCache,
} from "#sync/store/settings-rows.ts";
import { useLiveQuery } from "./use-live-query.ts";

/** What was shown last, once for each start: the same object as long as nothing else is known. */
const settingsByEngine = new WeakMap<SyncEngine, Settings>();

const readInitialSettings = (sync: SyncEngine | undefined): Settings => {
  if (!sync) return defaultSettings;
  const known = settingsByEngine.get(sync);
  if (known) return known;
  const shown = readSettingsCache({ platform: sync.tab.platform, me: sync.userId });
  settingsByEngine.set(sync, shown);
  return shown;
};

/** How the person wants things, on all their devices: at once, what they changed offline included. */
export const useSettings = (): Settings => {
  const sync = useSyncExternalStore(activeEngine.subscribe, activeEngine.get, () => undefined);
  const shown = useLiveQuery("settings", async ({ store }) => toEffectiveSettings(await readSettingsRow(store)));
  useEffect(() => {
    if (sync && shown) writeSettingsCache({ platform: sync.tab.platform, me: sync.userId }, shown);
  }, [sync, shown]);
  return shown ?? readInitialSettings(sync);
};

/**
 * Changes only what is named. Resolves once this phone has it for good, and it shows at once; the server is told as soon
 * as it can be. Rejects with a SyncError when the phone cannot keep it.
 */
export const changeSettings = async (wish: SettingsPatch): Promise<void> => {
  const sync = activeEngine.get();
  if (!sync) throw new SyncError("unavailable");
  await queueSettingsChange(sync.tab, wish);
};
