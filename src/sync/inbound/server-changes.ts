import type { ChangesResult } from "#contract/wire/commands.ts";
import type { ServerChange } from "./apply-server-changes.ts";

/**
 * The rows and people of an answer about changes. The cursor's own move goes before them. `isAnew`: the answer says
 * everything, though the device had heard of some.
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
