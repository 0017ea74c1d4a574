import { useState } from "react";
import type { Uuid } from "#contract/ids.ts";

/** Who is chosen in a `ContactPicker`, in the order of choosing. */
export const useSelection = () => {
  const [chosen, setChosen] = useState<ReadonlySet<Uuid>>(new Set());
  return {
    chosen,
    toggle: ({ id }: { id: Uuid }) =>
      setChosen((before) => {
        const after = new Set(before);
        if (!after.delete(id)) after.add(id);
        return after;
      }),
    /** Who had been chosen before this began anew. */
    chooseAgain: (ids: Iterable<Uuid>) => setChosen((before) => new Set([...ids, ...before])),
  };
};
