import * as v from "valibot";
import { defaultSettings, KeptSettings, type Settings } from "#contract/settings.ts";
import type { Meta } from "#worker/objects/shared/key-values.ts";

const Copy = v.object({ kept: KeptSettings, changed: v.number() });
type Copy = v.InferOutput<typeof Copy>;

const key = "settings";

/** How the person wants things, as the directory told this object last. Nothing stands here of who never changed any. */
export class OwnSettings {
  readonly #meta: Meta;
  #copy: Copy | undefined;

  constructor(meta: Meta) {
    this.#meta = meta;
    const kept = meta.get(key);
    this.#copy = kept === undefined ? undefined : v.parse(Copy, JSON.parse(kept));
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
    this.#meta.set(key, JSON.stringify({ kept, changed }));
    this.#copy = { kept, changed };
  }
}
