import { useEffect } from "react";
import { getSession } from "#lib/session/session.ts";

type SavedNumbers = { typed: string; of: string | undefined };

const readState = (): { numbers?: SavedNumbers } => history.state ?? {};

/** Numbers that this person typed before a reload. Another one may have signed in since. */
export const readSavedNumbers = (): string => {
  const { numbers } = readState();
  return numbers && numbers.of === getSession()?.userId ? numbers.typed : "";
};

/** Keeps typed numbers in their history entry, which no server sees, until the page is left. */
export const useSavedNumbers = (typed: string): void => {
  useEffect(() => {
    if (typed === readSavedNumbers()) return;
    history.replaceState({ ...readState(), numbers: { typed, of: getSession()?.userId } }, "");
  }, [typed]);
};
