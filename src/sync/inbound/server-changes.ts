import type { ChangesResult } from "#contract/wire/commands.ts";
import type { ServerChange } from "./apply-server-changes.ts";

/**
 * Changes in an answer to a `changes` request, without the cursor update, which precedes them. `isAnew`: the answer
 * contains everything, although this device knew some of it.
 */
export const toRowChanges = (
  { rows, people, settings, notices }: Pick<ChangesResult, "rows" | "people" | "settings" | "notices">,
  isAnew = false,
): ServerChange[] => [
  ...(settings ? [{ type: "settings", kept: settings } as const] : []),
  ...notices.map((notice) => ({ type: "notice", notice }) as const),
  ...people.map((relation) => ({ type: "person", relation }) as const),
  ...rows.map((row) => ({ type: "row", row, isAnew }) as const),
];
