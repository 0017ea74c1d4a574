import { BoundedMap } from "./bounded-map.ts";
import type { RateLimitPolicy, RateLimitResult } from "./rate-limit.ts";

type LimitRefusal = Extract<RateLimitResult, { ok: false }>;

/** Token bucket that delays the last requests, up to `waitMaxMs`, before it refuses any. */
type MemoryPolicy = RateLimitPolicy & { waitMaxMs: number };

/**
 * Token buckets in the memory of one isolate, checked before anything that needs a statement of the directory, so that
 * their refusals cost nothing. They only stop floods: each isolate counts for itself and starts with full buckets.
 * Exact limits are counted in the directory (rate-limit.ts).
 */
export const memoryPolicies = {
  // A newly set-up device requests some fifty pages at once; one without a socket polls three times a second in a
  // call. A larger burst would show in the response times of others.
  api_by_user: { burst: 60, everyMs: 100, waitMaxMs: 3_000 },
  // Avatars of a long list that is scrolled fast, ranges of a video. Each may start two objects and read the directory,
  // so the burst is what takes an isolate less than a second; the pictures after it wait for their turn.
  bytes_by_user: { burst: 70, everyMs: 40, waitMaxMs: 5_000 },
  // File parts: 5 MB as fast as the network carries them, then 1.3 MB a second.
  parts_by_user: { burst: 40, everyMs: 100, waitMaxMs: 3_000 },
  // Requests without a valid token. A whole mobile network may share one address; these routes have limits of their
  // own.
  anonymous_by_address: { burst: 250, everyMs: 20, waitMaxMs: 0 },
  // Each proof-of-work challenge costs the server one key derivation.
  challenges_by_address: { burst: 60, everyMs: 100, waitMaxMs: 3_000 },
  // Each ceremony writes two rows of the directory.
  ceremonies_by_address: { burst: 30, everyMs: 100, waitMaxMs: 3_000 },
  // Hashes of passwords over all requests: each occupies the isolate for a sixth of a second, so hashing takes a sixth of
  // it, and less than half where a hash takes twice as long.
  password_hashes: { burst: 1, everyMs: 1_000, waitMaxMs: 10_000 },
  // Those without a proof of work on unknown devices: slower, so that the others never wait behind many of them.
  // Attempts that would wait for longer need a proof.
  unproven_hashes: { burst: 1, everyMs: 1_500, waitMaxMs: 4_500 },
  // Requests without a valid token on all known devices of one person. Beyond it the bucket of the address applies.
  anonymous_by_device: { burst: 150, everyMs: 200, waitMaxMs: 0 },
} as const satisfies Record<string, MemoryPolicy>;
export type MemoryPolicyName = keyof typeof memoryPolicies;

const bucketsMax = 20_000;
const retryMinMs = 1_000;

/** Buckets stored as in rate-limit.ts: the time at which each is full again. */
export class MemoryBuckets {
  readonly #fullAt = new BoundedMap<string, number>(bucketsMax);

  /**
   * Takes tokens, one by default. From an empty bucket it takes those that are due within `waitMaxMs`, for which the
   * request must wait. `isTrial`: only tells whether they could be taken.
   */
  takeToken(
    name: MemoryPolicyName,
    key: string,
    { tokens = 1, now = Date.now(), isTrial = false }: { tokens?: number; now?: number; isTrial?: boolean } = {},
  ): { ok: true; waitMs: number } | LimitRefusal {
    const { burst, everyMs, waitMaxMs } = memoryPolicies[name];
    const bucket = `${name}:${key}`;
    const latest = now + burst * everyMs;
    const fullAt = this.#fullAt.get(bucket) ?? now;
    // Further ahead than possible: the clock was set back.
    const next = (fullAt > latest + waitMaxMs ? now : Math.max(fullAt, now)) + tokens * everyMs;
    const waitMs = Math.max(0, next - latest);
    if (waitMs > waitMaxMs) return { ok: false, retryAfterMs: Math.max(retryMinMs, waitMs) };
    if (!isTrial) this.#fullAt.set(bucket, next);
    return { ok: true, waitMs };
  }
}
