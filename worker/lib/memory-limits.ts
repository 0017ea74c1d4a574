import { BoundedMap } from "./bounded-map";
import type { Policy, Taken } from "./rate-limit";

/**
 * Token buckets in the memory of one runtime, in front of everything that costs a statement of the directory: what they
 * refuse costs nothing. They stop floods, no more: other runtimes count for themselves, and a new one begins with full
 * buckets. What must be counted exactly is counted in the directory (rate-limit.ts).
 */
export const memoryPolicies = {
  // A phone that is set up anew asks for some fifty pages at once, and one without a socket asks three times a second in a call.
  api_by_user: { burst: 300, everyMs: 200 },
  // Avatars of a long list that is scrolled fast, ranges of a film, parts of files on a quick network.
  bytes_by_user: { burst: 2_000, everyMs: 50 },
  // Without a valid token. A whole mobile network may stand behind one address; what these routes do has limits of its own.
  anonymous_by_address: { burst: 2_000, everyMs: 20 },
  // Without a valid token on known devices, all that one person made known together. Beyond it the address's counts.
  anonymous_by_device: { burst: 300, everyMs: 200 },
} as const satisfies Record<string, Policy>;
export type MemoryPolicyName = keyof typeof memoryPolicies;

const bucketsMax = 20_000;
const retryMinMs = 1_000;

/** Buckets kept as in rate-limit.ts: as the time at which each is full again. */
export class MemoryBuckets {
  readonly #fullAt = new BoundedMap<string, number>(bucketsMax);

  /** Takes one token. */
  take(name: MemoryPolicyName, key: string, now = Date.now()): Taken {
    const { burst, everyMs } = memoryPolicies[name];
    const bucket = `${name}:${key}`;
    const latest = now + burst * everyMs;
    const fullAt = this.#fullAt.get(bucket) ?? now;
    // Further ahead than a bucket can get: the clock was set back.
    const next = (fullAt > latest ? now : Math.max(fullAt, now)) + everyMs;
    if (next > latest) return { ok: false, retryAfterMs: Math.max(retryMinMs, next - latest) };
    this.#fullAt.set(bucket, next);
    return { ok: true };
  }
}
