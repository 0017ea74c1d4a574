import { useEffect, useState } from "react";
import { minimizeCall } from "#calls/actions.ts";
import { isDialogOpen, isUserBusy } from "./focus-guard.ts";

const checkIntervalMs = 500;

/**
 * Whether the screen of a call that rings waits: nobody is interrupted while they write or speak. The call shows as a bar then,
 * as when its screen was put away; behind an open dialog nothing can be reached, so there it waits for a pause.
 */
export const useDeferredRing = (isRinging: boolean, isMinimised: boolean): boolean => {
  const [isHeld, setHeld] = useState(() => isRinging && isUserBusy());
  if (isHeld && (isMinimised || !isRinging)) setHeld(false);
  useEffect(() => {
    if (!isHeld) return;
    const look = () => {
      if (!isUserBusy()) setHeld(false);
      else if (!isDialogOpen()) minimizeCall();
    };
    look();
    const timer = setInterval(look, checkIntervalMs);
    return () => clearInterval(timer);
  }, [isHeld]);
  return isHeld;
};
