import type { Uuid } from "#contract/ids.ts";
import { exceptionsMax } from "#contract/limits/people.ts";

/** Changes a list of exceptions as this device changed `before` into `wanted`. */
export const mergeExceptionList = (before: readonly Uuid[], wanted: readonly Uuid[], now: readonly Uuid[]): Uuid[] => {
  const kept = now.filter((id) => wanted.includes(id) || !before.includes(id));
  const added = wanted.filter((id) => !before.includes(id) && !now.includes(id));
  return [...added, ...kept].slice(0, exceptionsMax);
};
