import * as v from "valibot";
import { defaultSettings, type Settings, VersionedSettings } from "#contract/settings/settings.ts";
import type { KeyValues } from "#worker/objects/shared/key-values.ts";

const StoredSettings = v.object({ kept: VersionedSettings, changed: v.number() });
type StoredSettings = v.InferOutput<typeof StoredSettings>;

const settingsKey = "settings";

/** Copy of the person's settings from the directory. Empty if they never changed any. */
export class SettingsCopy {
  readonly #meta: KeyValues;
  #copy: StoredSettings | undefined;

  constructor(meta: KeyValues) {
    this.#meta = meta;
    const stored = meta.get(settingsKey);
    this.#copy = stored === undefined ? undefined : v.parse(StoredSettings, JSON.parse(stored));
  }

  get current(): Settings {
    return this.#copy?.kept.settings ?? defaultSettings;
  }

  /** Number of the last change of the settings. */
  get changed(): number {
    return this.#copy?.changed ?? 0;
  }

  /** The settings if they changed after a cursor, otherwise null. */
  findChangedSince(counter: number): VersionedSettings | null {
    return this.#copy && this.#copy.changed > counter ? this.#copy.kept : null;
  }

  isNewer(settings: VersionedSettings): boolean {
    return settings.version > (this.#copy?.kept.version ?? 0);
  }

  write(settings: VersionedSettings, changed: number): void {
    this.#meta.set(settingsKey, JSON.stringify({ kept: settings, changed }));
    this.#copy = { kept: settings, changed };
  }
}
