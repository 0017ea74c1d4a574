import * as v from "valibot";
import { defaultSettings, KeptSettings, type Settings } from "../../contract/settings";

const Copy = v.object({ kept: KeptSettings, changed: v.number() });
type Copy = v.InferOutput<typeof Copy>;

const key = "settings";

/** How the person wants things, as the directory told this object last. Nothing stands here of who never changed any. */
export class OwnSettings {
  readonly #sql: SqlStorage;
  #copy: Copy | undefined;

  constructor(sql: SqlStorage) {
    this.#sql = sql;
    const [row] = sql.exec<{ value: string }>("SELECT value FROM meta WHERE key = ?", key).toArray();
    this.#copy = row && v.parse(Copy, JSON.parse(row.value));
  }

  get current(): Settings {
    return this.#copy?.kept.settings ?? defaultSettings;
  }

  /** The number of the change that told of them last. */
  get changed(): number {
    return this.#copy?.changed ?? 0;
  }

  /** What a device that has come so far has still to hear of them. */
  since(counter: number): KeptSettings | null {
    return this.#copy && this.#copy.changed > counter ? this.#copy.kept : null;
  }

  isNews(kept: KeptSettings): boolean {
    return kept.version > (this.#copy?.kept.version ?? 0);
  }

  write(kept: KeptSettings, changed: number): void {
    this.#sql.exec("INSERT OR REPLACE INTO meta (key, value) VALUES (?, ?)", key, JSON.stringify({ kept, changed }));
    this.#copy = { kept, changed };
  }
}
