import * as v from "valibot";
import type { Uuid } from "#contract/ids.ts";
import { exceptionsMax } from "#contract/limits/people.ts";
import {
  defaultSettings,
  type Exceptions,
  Settings,
  type SettingsChange,
  toPreviewLevel,
  type VersionedSettings,
} from "#contract/settings/settings.ts";
import type { Platform } from "#sync/platform/platform.ts";
import type { LocalStore } from "./database.ts";
import { toStoreName } from "./database.ts";

type PartialSection<Kind extends keyof Settings> = { [Name in Kind]?: Partial<Settings[Name]> };

/** Change made by the person. Unlike `SettingsChange` it may contain a part of these sections. */
export type SettingsPatch = Omit<SettingsChange, "messages" | "groups" | "quietHours"> &
  PartialSection<"messages" | "groups" | "quietHours">;

/**
 * Settings on this device: `kept` is the server's latest version, `wanted` are local changes the server has not
 * confirmed. `excepted`: the server's lists of exceptions before these changes, to which other devices may add
 * meanwhile.
 */
export type SettingsRow = { kept: VersionedSettings | null; wanted: SettingsChange; excepted?: Exceptions | undefined };

/** Key of the settings in `meta`. */
export const settingsKey = "settings";

export const readSettingsRow = async (store: LocalStore): Promise<SettingsRow> =>
  ((await store.meta.get(settingsKey))?.value as SettingsRow | undefined) ?? { kept: null, wanted: {} };

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
export const toEffectiveSettings = ({ kept, wanted }: SettingsRow): Settings => {
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

/** Changes a list of exceptions as this device changed `before` into `wanted`. */
export const mergeExceptionList = (before: readonly Uuid[], wanted: readonly Uuid[], now: readonly Uuid[]): Uuid[] => {
  const kept = now.filter((id) => wanted.includes(id) || !before.includes(id));
  const added = wanted.filter((id) => !before.includes(id) && !now.includes(id));
  return [...added, ...kept].slice(0, exceptionsMax);
};

/** Updates the settings row in one transaction. */
export const updateSettingsRow = (store: LocalStore, change: (row: SettingsRow) => SettingsRow): Promise<SettingsRow> =>
  store.transaction("rw", store.meta, async () => {
    const row = change(await readSettingsRow(store));
    await store.meta.put({ key: settingsKey, value: row });
    return row;
  });

/** Merges settings received from the server; the higher version wins. */
export const mergeServerSettings = (row: SettingsRow, kept: VersionedSettings): SettingsRow =>
  kept.version > (row.kept?.version ?? 0) ? { ...row, kept } : row;

const isEmpty = (change: SettingsChange): boolean => Object.keys(change).length === 0;

/** Whether local changes wait to be sent. */
export const hasPendingSettings = ({ wanted }: SettingsRow): boolean => !isEmpty(wanted);

/** Removes sent changes from `wanted`, except values that were changed again since. */
export const clearSentSettings = (row: SettingsRow, sent: SettingsChange): SettingsRow => {
  const isSent = ([name, value]: [string, unknown]): boolean =>
    JSON.stringify(value) === JSON.stringify(sent[name as keyof SettingsChange]);
  return { ...row, wanted: Object.fromEntries(Object.entries(row.wanted).filter((entry) => !isSent(entry))) };
};

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
