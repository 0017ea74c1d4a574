import { isRecentlyConfirmed } from "#contract/auth/session-age.ts";
import type { Uuid } from "#contract/ids.ts";
import { sleep } from "#lib/browser/time/sleep.ts";
import { getConfirmationTime, getSession } from "./session.ts";
import { saveSessionEndedNote } from "./session-ended-note.ts";
import { refreshSession } from "./session-refresh.ts";

const confirmTimeoutMs = 4_000; // then the network counts as missing

/**
 * Waits until the server has confirmed a session that it has not renewed for long, unless the device knows that it has no
 * network. Returns false if this person's session has ended.
 */
export const confirmSession = async (userId: Uuid): Promise<boolean> => {
  const isCurrent = () => getSession()?.userId === userId;
  const session = getSession();
  if (!session || !isCurrent()) return false;
  if (!navigator.onLine || isRecentlyConfirmed(getConfirmationTime(session), Date.now())) return true;
  await Promise.race([refreshSession(), sleep(confirmTimeoutMs)]);
  if (!isCurrent()) saveSessionEndedNote(); // the app may not have been rendered for this person yet
  return isCurrent();
};
