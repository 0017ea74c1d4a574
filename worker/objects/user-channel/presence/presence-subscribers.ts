import * as v from "valibot";
import { Uuid } from "#contract/ids.ts";
import { presenceSubscriptionMs, presenceWatchersMax } from "#contract/limits.ts";
import type { KeyValues } from "#worker/objects/shared/key-values.ts";

const subscribersKey = "awaited";
const renewMs = presenceSubscriptionMs / 2; // who asks again and again costs one row in so long
const StoredSubscribers = v.array(v.tuple([Uuid, v.number()]));

/** Those who asked for a person that was not here, and when: a row keeps them, for nobody is connected then whose socket could. */
export class PresenceSubscribers {
  readonly #meta: KeyValues;

  constructor(meta: KeyValues) {
    this.#meta = meta;
  }

  add(peer: Uuid): void {
    const now = Date.now();
    const recent = this.#read(now);
    if (recent.some(([id, at]) => id === peer && at > now - renewMs)) return;
    const others = recent.filter(([id]) => id !== peer);
    const newest = [...others, [peer, now]].slice(-presenceWatchersMax);
    this.#meta.set(subscribersKey, JSON.stringify(newest));
  }

  /** Who is to be told that the person is here, once. */
  takeAll(): Uuid[] {
    const recent = this.#read(Date.now());
    if (this.#meta.get(subscribersKey) !== undefined) this.#meta.delete(subscribersKey);
    return recent.map(([peer]) => peer);
  }

  #read(now: number): v.InferOutput<typeof StoredSubscribers> {
    const stored = this.#meta.get(subscribersKey);
    return stored === undefined
      ? []
      : v.parse(StoredSubscribers, JSON.parse(stored)).filter(([, at]) => at > now - presenceSubscriptionMs);
  }
}
