import { type MockInstance, vi } from "vitest";
import { MemoryBuckets } from "#worker/lib/limits/memory-limits.ts";

let lifted: MockInstance<MemoryBuckets["takeToken"]> | undefined;

/**
 * Lifts the limits in the memory of the isolate until the mocks are restored: in tests few people do much, and would
 * wait for their buckets.
 */
export const liftMemoryLimits = (): void => {
  lifted = vi.spyOn(MemoryBuckets.prototype, "takeToken").mockReturnValue({ ok: true, waitMs: 0 });
};

/** Applies the limits of production, for tests about them. */
export const applyMemoryLimits = (): void => lifted?.mockRestore();
