import { useEffect } from "react";
import { defaultSettings, type Settings } from "#contract/settings/settings.ts";
import { getEngine, type SyncEngine } from "#sync/engine/engine.ts";
import { queueSettingsChange } from "#sync/operations/settings-commands.ts";
import { settingsQuery } from "#sync/queries/screen-queries.ts";
import { readSettingsCache, type SettingsPatch, writeSettingsCache } from "#sync/store/settings-rows.ts";
import { useEngine, useLiveQuery } from "./use-live-query.ts";

/** Cached settings of each engine, read once, so that the hook returns the same object until the store was read. */
const settingsByEngine = new WeakMap<SyncEngine, Settings>();

const readInitialSettings = (engine: SyncEngine | undefined): Settings => {
  if (!engine) return defaultSettings;
  const known = settingsByEngine.get(engine);
  if (known) return known;
  const shown = readSettingsCache({ platform: engine.client.platform, me: engine.userId });
  settingsByEngine.set(engine, shown);
  return shown;
};

/** Settings of the person, including changes made offline. */
export const useSettings = (): Settings => {
  const engine = useEngine();
  const shown = useLiveQuery(...settingsQuery);
  useEffect(() => {
    if (engine && shown) writeSettingsCache({ platform: engine.client.platform, me: engine.userId }, shown);
  }, [engine, shown]);
  return shown ?? readInitialSettings(engine);
};

/**
 * Changes the named settings. They apply at once and are sent to the server when it is reachable. Resolves once the
 * change is durable; rejects with a SyncError if it cannot be stored.
 */
export const changeSettings = async (patch: SettingsPatch): Promise<void> => {
  await queueSettingsChange(getEngine().client, patch);
};
