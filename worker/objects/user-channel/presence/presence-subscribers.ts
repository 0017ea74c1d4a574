import * as v from "valibot";
import { Uuid } from "#contract/ids.ts";
import { presenceAwaitedMs, presenceWatchersMax } from "#contract/limits.ts";
import type { Meta } from "#worker/objects/shared/key-values.ts";

const key = "awaited";
const renewMs = presenceAwaitedMs / 2; // who asks again and again costs one row in so long
const Kept = v.array(v.tuple([Uuid, v.number()]));

/** Those who asked for a person that was not here, and when: a row keeps them, for nobody is connected then whose socket could. */
export class Awaited {
  readonly #meta: Meta;

  constructor(meta: Meta) {
    this.#meta = meta;
  }

  add(asker: Uuid): void {
    const now = Date.now();
    const recent = this.#read(now);
    if (recent.some(([one, at]) => one === asker && at > now - renewMs)) return;
    const others = recent.filter(([one]) => one !== asker);
    const newest = [...others, [asker, now]].slice(-presenceWatchersMax);
    this.#meta.set(key, JSON.stringify(newest));
  }

  /** Who is to be told that the person is here, once. */
  take(): Uuid[] {
    const recent = this.#read(Date.now());
    if (this.#meta.get(key) !== undefined) this.#meta.delete(key);
    return recent.map(([asker]) => asker);
  }

  #read(now: number): v.InferOutput<typeof Kept> {
    const kept = this.#meta.get(key);
    return kept === undefined ? [] : v.parse(Kept, JSON.parse(kept)).filter(([, at]) => at > now - presenceAwaitedMs);
  }
}
