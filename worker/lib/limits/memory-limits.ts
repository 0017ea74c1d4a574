import { BoundedMap } from "./bounded-map.ts";
import type { RateLimitPolicy, RateLimitResult } from "./rate-limit.ts";

type LimitRefusal = Extract<RateLimitResult, { ok: false }>;

/** A token bucket whose last requests are delayed, up to `waitMaxMs`, before any is refused. */
type MemoryPolicy = RateLimitPolicy & { waitMaxMs: number };

/**
 * Token buckets in the memory of one runtime, in front of everything that costs a statement of the directory: what they
 * refuse costs nothing. They stop floods, no more: other runtimes count for themselves, and a new one begins with full
 * buckets. What must be counted exactly is counted in the directory (rate-limit.ts).
 */
export const memoryPolicies = {
  // A phone that is set up anew asks for some fifty pages at once, and one without a socket asks three times a second in a call.
  api_by_user: { burst: 300, everyMs: 200, waitMaxMs: 0 },
  // Avatars of a long list that is scrolled fast, ranges of a film.
  bytes_by_user: { burst: 600, everyMs: 25, waitMaxMs: 3_000 },
  // Parts of files: 5 MB as fast as the network carries them, then 1.3 MB a second.
  parts_by_user: { burst: 40, everyMs: 100, waitMaxMs: 3_000 },
  // Without a valid token. A whole mobile network may stand behind one address; what these routes do has limits of its own.
  anonymous_by_address: { burst: 400, everyMs: 20, waitMaxMs: 0 },
  // A challenge of the proof of work costs the server one key derivation.
  challenges_by_address: { burst: 60, everyMs: 100, waitMaxMs: 3_000 },
  // Without a valid token on known devices, all that one person made known together. Beyond it the address's counts.
  anonymous_by_device: { burst: 150, everyMs: 200, waitMaxMs: 0 },
} as const satisfies Record<string, MemoryPolicy>;
export type MemoryPolicyName = keyof typeof memoryPolicies;

const bucketsMax = 20_000;
const retryMinMs = 1_000;

/** Buckets kept as in rate-limit.ts: as the time at which each is full again. */
export class MemoryBuckets {
  readonly #fullAt = new BoundedMap<string, number>(bucketsMax);

  /** Takes one token; of an empty bucket one that comes within `waitMaxMs`, which the request has to wait for. */
  takeToken(name: MemoryPolicyName, key: string, now = Date.now()): { ok: true; waitMs: number } | LimitRefusal {
    const { burst, everyMs, waitMaxMs } = memoryPolicies[name];
    const bucket = `${name}:${key}`;
    const latest = now + burst * everyMs;
    const fullAt = this.#fullAt.get(bucket) ?? now;
    // Further ahead than a bucket can get: the clock was set back.
    const next = (fullAt > latest + waitMaxMs ? now : Math.max(fullAt, now)) + everyMs;
    const waitMs = Math.max(0, next - latest);
    if (waitMs > waitMaxMs) return { ok: false, retryAfterMs: Math.max(retryMinMs, waitMs) };
    this.#fullAt.set(bucket, next);
    return { ok: true, waitMs };
  }
}
