import * as v from "valibot";
import { Uuid } from "#contract/ids.ts";
import { presenceSubscriptionMs, presenceWatchersMax } from "#contract/limits.ts";
import type { KeyValues } from "#worker/objects/shared/key-values.ts";

const subscribersKey = "awaited";
const renewMs = presenceSubscriptionMs / 2; // repeated queries of one person write one row in this interval
const StoredSubscribers = v.array(v.tuple([Uuid, v.number()]));

/**
 * People who asked while this person was away, with the time. Stored in a row, because no socket is there to hold them.
 */
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

  /** Removes and returns the people to notify. */
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
