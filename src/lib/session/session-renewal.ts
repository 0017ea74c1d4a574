import { refreshMarginSeconds } from "#contract/limits/authentication.ts";
import { isDataSaverOn } from "#lib/browser/network-info.ts";
import { getSession, isNearExpiry, subscribeSession } from "./session.ts";
import { refreshSession } from "./session-refresh.ts";

const retryMs = 60_000; // after a renewal whose attempts all failed

/**
 * Renews the session before its access cookie expires, while this page is visible: the browser requests images itself,
 * with only the cookie. Invisible pages and devices with data saver renew on demand. Several visible pages renew once
 * (`refreshSession`). Returns a function that stops it.
 */
export const renewSessionWhileVisible = (): (() => void) => {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let isStopped = false;

  const schedule = (minimumMs = 0): void => {
    clearTimeout(timer);
    const session = getSession();
    if (isStopped || !session || document.visibilityState !== "visible" || isDataSaverOn()) return;
    const dueMs = session.expiresAt - Date.now() - refreshMarginSeconds * 1_000 + 1;
    timer = setTimeout(() => void renew(), Math.max(dueMs, minimumMs));
  };
  const renew = async (): Promise<void> => {
    const session = getSession();
    const isRenewed = session === undefined || !isNearExpiry(session) || (await refreshSession());
    schedule(isRenewed ? 1_000 : retryMs);
  };
  const onChange = () => schedule();

  const unsubscribe = subscribeSession(onChange);
  document.addEventListener("visibilitychange", onChange);
  schedule();
  return () => {
    isStopped = true;
    clearTimeout(timer);
    unsubscribe();
    document.removeEventListener("visibilitychange", onChange);
  };
};
