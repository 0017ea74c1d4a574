import { useEffect, useState } from "react";
import { minimise } from "#calls/actions.ts";
import { isBehindDialog, isBusy } from "./focus-guard.ts";

const lookMs = 500;

/**
 * Whether the screen of a call that rings waits: nobody is interrupted while they write or speak. The call shows as a bar then,
 * as when its screen was put away; behind an open dialog nothing can be reached, so there it waits for a pause.
 */
export const useHeldRing = (isRinging: boolean, isMinimised: boolean): boolean => {
  const [isHeld, setHeld] = useState(() => isRinging && isBusy());
  if (isHeld && (isMinimised || !isRinging)) setHeld(false);
  useEffect(() => {
    if (!isHeld) return;
    const look = () => {
      if (!isBusy()) setHeld(false);
      else if (!isBehindDialog()) minimise();
    };
    look();
    const timer = setInterval(look, lookMs);
    return () => clearInterval(timer);
  }, [isHeld]);
  return isHeld;
};
