import * as v from "valibot";
import { defaultSettings, type KeptSettings, Settings, type SettingsChange } from "#contract/settings.ts";
import type { Platform } from "#sync/platform/platform.ts";
import type { Store } from "./database.ts";
import { storeName } from "./database.ts";

type Part<Kind extends keyof Settings> = { [Name in Kind]?: Partial<Settings[Name]> };

/** What a person changes: of what belongs together one thing alone, too. */
export type SettingsWish = Omit<SettingsChange, "messages" | "groups"> & Part<"messages" | "groups">;

/** A person's settings as this phone has them: what the server said last, and what it is still to be told. */
export type SettingsRow = { kept: KeptSettings | null; wanted: SettingsChange };

const settingsKey = "settings";

export const readSettings = async (store: Store): Promise<SettingsRow> =>
  ((await store.meta.get(settingsKey))?.value as SettingsRow | undefined) ?? { kept: null, wanted: {} };

/** What the person sees: their own word before the server's. */
export const shownSettings = ({ kept, wanted }: SettingsRow): Settings => ({
  ...defaultSettings,
  ...kept?.settings,
  ...wanted,
});

/** As the server is told of it; what belongs together goes there whole. */
export const toChange = ({ messages, groups, ...rest }: SettingsWish, now: Settings): SettingsChange => ({
  ...rest,
  ...(messages && { messages: { ...now.messages, ...messages } }),
  ...(groups && { groups: { ...now.groups, ...groups } }),
});

/** Changes the row, all of it or nothing. */
export const updateSettings = (store: Store, change: (row: SettingsRow) => SettingsRow): Promise<SettingsRow> =>
  store.transaction("rw", store.meta, async () => {
    const row = change(await readSettings(store));
    await store.meta.put({ key: settingsKey, value: row });
    return row;
  });

/** What the server says. Of two the one that was changed more often knows better. */
export const takeKept = (row: SettingsRow, kept: KeptSettings): SettingsRow =>
  kept.version > (row.kept?.version ?? 0) ? { ...row, kept } : row;

const isEmpty = (change: SettingsChange): boolean => Object.keys(change).length === 0;

/** Whether the server has still to be told of something. */
export const isWaiting = ({ wanted }: SettingsRow): boolean => !isEmpty(wanted);

/** What was sent is done with; what was changed again meanwhile is not. */
export const settled = (row: SettingsRow, sent: SettingsChange): SettingsRow => {
  const isSent = ([name, value]: [string, unknown]): boolean =>
    JSON.stringify(value) === JSON.stringify(sent[name as keyof SettingsChange]);
  return { ...row, wanted: Object.fromEntries(Object.entries(row.wanted).filter((entry) => !isSent(entry))) };
};

// The store takes a moment to be read: what was shown last is known before that.

type Place = { platform: Pick<Platform, "notes">; me: string };

const shownKey = (me: string): string => `${storeName(me)}-settings`;

export const noteShown = ({ platform, me }: Place, settings: Settings): void => {
  try {
    platform.notes?.setItem(shownKey(me), JSON.stringify(settings));
  } catch {
    // no room, or forbidden: the store alone has to do
  }
};

export const readShown = ({ platform, me }: Place): Settings => {
  try {
    const shown = v.safeParse(Settings, JSON.parse(platform.notes?.getItem(shownKey(me)) ?? "null"));
    return shown.success ? shown.output : defaultSettings;
  } catch {
    return defaultSettings;
  }
};
