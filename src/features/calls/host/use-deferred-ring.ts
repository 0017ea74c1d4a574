import { useEffect, useState } from "react";
import { minimizeCall } from "#calls/actions.ts";
import { isDialogOpen, isUserBusy } from "./focus-guard.ts";

const checkIntervalMs = 500;

/**
 * Whether the screen of a ringing call is deferred, so that it does not interrupt typing or recording. Meanwhile the
 * call shows as a bar, as if minimized. Behind an open dialog the bar cannot be reached, so the screen waits for a
 * pause.
 */
export const useDeferredRing = (isRinging: boolean, isMinimized: boolean): boolean => {
  const [isDeferred, setDeferred] = useState(() => isRinging && isUserBusy());
  if (isDeferred && (isMinimized || !isRinging)) setDeferred(false);
  useEffect(() => {
    if (!isDeferred) return;
    const update = () => {
      if (!isUserBusy()) setDeferred(false);
      else if (!isDialogOpen()) minimizeCall();
    };
    update();
    const timer = setInterval(update, checkIntervalMs);
    return () => clearInterval(timer);
  }, [isDeferred]);
  return isDeferred;
};
