import { useState } from "react";
import type { Uuid } from "#contract/ids.ts";

/** Selected ids of a `ContactPicker`, in order of selection: at first the initial ones. */
export const useSelection = (initial: readonly Uuid[] = []) => {
  const [chosen, setChosen] = useState<ReadonlySet<Uuid>>(() => new Set(initial));
  return {
    chosen,
    toggle: ({ id }: { id: Uuid }) =>
      setChosen((before) => {
        const after = new Set(before);
        if (!after.delete(id)) after.add(id);
        return after;
      }),
    /** Adds an earlier selection, in front of the current one. */
    addToSelection: (ids: Iterable<Uuid>) => setChosen((before) => new Set([...ids, ...before])),
  };
};
