import { useEffect, useSyncExternalStore } from "react";
import { defaultSettings, type Settings } from "#contract/settings.ts";
import { running, type Sync } from "#sync/engine.ts";
import { wantSettings } from "#sync/people/settings-commands.ts";
import { SyncError } from "#sync/platform/sync-error.ts";
import { noteShown, readSettings, readShown, type SettingsWish, shownSettings } from "#sync/store/settings-rows.ts";
import { useLive } from "./use-live-query.ts";

/** What was shown last, once for each start: the same object as long as nothing else is known. */
const firstShown = new WeakMap<Sync, Settings>();

const readFirst = (sync: Sync | undefined): Settings => {
  if (!sync) return defaultSettings;
  const known = firstShown.get(sync);
  if (known) return known;
  const shown = readShown({ platform: sync.tab.platform, me: sync.userId });
  firstShown.set(sync, shown);
  return shown;
};

/** How the person wants things, on all their devices: at once, what they changed offline included. */
export const useSettings = (): Settings => {
  const sync = useSyncExternalStore(running.subscribe, running.get, () => undefined);
  const shown = useLive("settings", async ({ store }) => shownSettings(await readSettings(store)));
  useEffect(() => {
    if (sync && shown) noteShown({ platform: sync.tab.platform, me: sync.userId }, shown);
  }, [sync, shown]);
  return shown ?? readFirst(sync);
};

/**
 * Changes only what is named. Resolves once this phone has it for good, and it shows at once; the server is told as soon
 * as it can be. Rejects with a SyncError when the phone cannot keep it.
 */
export const changeSettings = async (wish: SettingsWish): Promise<void> => {
  const sync = running.get();
  if (!sync) throw new SyncError("unavailable");
  await wantSettings(sync.tab, wish);
};
