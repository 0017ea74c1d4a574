import * as v from "valibot";
import {
  defaultSettings,
  type Exceptions,
  Settings,
  type SettingsChange,
  toPreviewLevel,
  type VersionedSettings,
} from "#contract/settings/settings.ts";
import type { Platform } from "#sync/platform/platform.ts";
import { changedSettings } from "#sync/unsent/operations.ts";
import type { UnsentStore } from "#sync/unsent/unsent-store.ts";
import { type LocalStore, toStoreName } from "./database.ts";

type PartialSection<Kind extends keyof Settings> = { [Name in Kind]?: Partial<Settings[Name]> };

/** Change made by the person. Unlike `SettingsChange` it may contain a part of these sections. */
export type SettingsPatch = Omit<SettingsChange, "messages" | "groups" | "quietHours"> &
  PartialSection<"messages" | "groups" | "quietHours">;

/**
 * Settings on this device: `kept` is the server's latest version, `wanted` are local changes the server has not
 * confirmed. `excepted`: the server's lists of exceptions before these changes, to which other devices may add
 * meanwhile.
 */
export type SettingsState = {
  kept: VersionedSettings | null;
  wanted: SettingsChange;
  excepted?: Partial<Exceptions> | undefined;
};

/** Key of the server's settings in `meta`. */
const settingsKey = "settings";

const readKeptSettings = async (store: LocalStore): Promise<VersionedSettings | null> =>
  ((await store.meta.get(settingsKey))?.value as VersionedSettings | undefined) ?? null;

export const readSettings = async ({
  store,
  unsent,
}: {
  store: LocalStore;
  unsent: Pick<UnsentStore, "list" | "find">;
}): Promise<SettingsState> => {
  const changed = changedSettings.find(unsent, {});
  return { kept: await readKeptSettings(store), wanted: {}, ...changed };
};

/** Stores settings received from the server; the higher version wins. Requires a transaction over `meta`. */
export const storeServerSettings = async (store: LocalStore, received: VersionedSettings): Promise<void> => {
  const kept = await readKeptSettings(store);
  if (received.version > (kept?.version ?? 0)) await store.meta.put({ key: settingsKey, value: received });
};

const upgradePreview = <Section extends Settings["messages"]>(section: Section): Section => ({
  ...section,
  preview: toPreviewLevel(section.preview),
});

/** Adds a change to settings or to an earlier change. Lists of exceptions are replaced one by one. */
export const applyChange = <Of extends SettingsChange>(of: Of, change: SettingsChange): Of & SettingsChange => ({
  ...of,
  ...change,
  ...(change.exceptions && { exceptions: { ...of.exceptions, ...change.exceptions } }),
});

/**
 * Settings shown to the person: local changes override the server's values. Rows of earlier versions have booleans as
 * preview levels.
 */
export const toEffectiveSettings = ({ kept, wanted }: Pick<SettingsState, "kept" | "wanted">): Settings => {
  const settings = applyChange({ ...defaultSettings, ...kept?.settings }, wanted);
  return { ...settings, messages: upgradePreview(settings.messages), groups: upgradePreview(settings.groups) };
};

/** Expands a patch to the change sent to the server, which takes sections as a whole. */
export const toSettingsChange = (
  { messages, groups, quietHours, ...rest }: SettingsPatch,
  current: Settings,
): SettingsChange => ({
  ...rest,
  ...(quietHours && { quietHours: { ...current.quietHours, ...quietHours } }),
  ...(messages && { messages: { ...current.messages, ...messages } }),
  ...(groups && { groups: { ...current.groups, ...groups } }),
});

// Copy of the shown settings in localStorage: available synchronously, before IndexedDB is read.

type SettingsCacheScope = { platform: Pick<Platform, "localStorage">; me: string };

const toSettingsCacheKey = (me: string): string => `${toStoreName(me)}-settings`;

export const writeSettingsCache = ({ platform, me }: SettingsCacheScope, settings: Settings): void => {
  try {
    platform.localStorage?.setItem(toSettingsCacheKey(me), JSON.stringify(settings));
  } catch {
    // quota exceeded or access denied: the copy is optional
  }
};

export const readSettingsCache = ({ platform, me }: SettingsCacheScope): Settings => {
  try {
    const cached = v.safeParse(Settings, JSON.parse(platform.localStorage?.getItem(toSettingsCacheKey(me)) ?? "null"));
    return cached.success ? cached.output : defaultSettings;
  } catch {
    return defaultSettings;
  }
};
