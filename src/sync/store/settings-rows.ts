import * as v from "valibot";
import { defaultSettings, Settings, type SettingsChange, type VersionedSettings } from "#contract/settings.ts";
import type { Platform } from "#sync/platform/platform.ts";
import type { LocalStore } from "./database.ts";
import { toStoreName } from "./database.ts";

type PartialSection<Kind extends keyof Settings> = { [Name in Kind]?: Partial<Settings[Name]> };

/** What a person changes: of what belongs together one thing alone, too. */
export type SettingsPatch = Omit<SettingsChange, "messages" | "groups"> & PartialSection<"messages" | "groups">;

/** A person's settings as this phone has them: what the server said last, and what it is still to be told. */
export type SettingsRow = { kept: VersionedSettings | null; wanted: SettingsChange };

const settingsKey = "settings";

export const readSettingsRow = async (store: LocalStore): Promise<SettingsRow> =>
  ((await store.meta.get(settingsKey))?.value as SettingsRow | undefined) ?? { kept: null, wanted: {} };

/** What the person sees: their own word before the server's. */
export const toEffectiveSettings = ({ kept, wanted }: SettingsRow): Settings => ({
  ...defaultSettings,
  ...kept?.settings,
  ...wanted,
});

/** As the server is told of it; what belongs together goes there whole. */
export const toSettingsChange = ({ messages, groups, ...rest }: SettingsPatch, now: Settings): SettingsChange => ({
  ...rest,
  ...(messages && { messages: { ...now.messages, ...messages } }),
  ...(groups && { groups: { ...now.groups, ...groups } }),
});

/** Changes the row, all of it or nothing. */
export const updateSettingsRow = (store: LocalStore, change: (row: SettingsRow) => SettingsRow): Promise<SettingsRow> =>
  store.transaction("rw", store.meta, async () => {
    const row = change(await readSettingsRow(store));
    await store.meta.put({ key: settingsKey, value: row });
    return row;
  });

/** What the server says. Of two the one that was changed more often knows better. */
export const mergeServerSettings = (row: SettingsRow, kept: VersionedSettings): SettingsRow =>
  kept.version > (row.kept?.version ?? 0) ? { ...row, kept } : row;

const isEmpty = (change: SettingsChange): boolean => Object.keys(change).length === 0;

/** Whether the server has still to be told of something. */
export const hasPendingSettings = ({ wanted }: SettingsRow): boolean => !isEmpty(wanted);

/** What was sent is done with; what was changed again meanwhile is not. */
export const clearSentSettings = (row: SettingsRow, sent: SettingsChange): SettingsRow => {
  const isSent = ([name, value]: [string, unknown]): boolean =>
    JSON.stringify(value) === JSON.stringify(sent[name as keyof SettingsChange]);
  return { ...row, wanted: Object.fromEntries(Object.entries(row.wanted).filter((entry) => !isSent(entry))) };
};

// The store takes a moment to be read: what was shown last is known before that.

type SettingsCacheScope = { platform: Pick<Platform, "localStorage">; me: string };

const toSettingsCacheKey = (me: string): string => `${toStoreName(me)}-settings`;

export const writeSettingsCache = ({ platform, me }: SettingsCacheScope, settings: Settings): void => {
  try {
    platform.localStorage?.setItem(toSettingsCacheKey(me), JSON.stringify(settings));
  } catch {
    // no room, or forbidden: the store alone has to do
  }
};

export const readSettingsCache = ({ platform, me }: SettingsCacheScope): Settings => {
  try {
    const shown = v.safeParse(Settings, JSON.parse(platform.localStorage?.getItem(toSettingsCacheKey(me)) ?? "null"));
    return shown.success ? shown.output : defaultSettings;
  } catch {
    return defaultSettings;
  }
};
