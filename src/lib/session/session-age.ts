import { sessionConfirmedHours } from "#contract/limits/authentication.ts";
import { hourMs } from "#contract/limits/durations.ts";

/**
 * Whether the server must confirm a session before anything of its person is shown, because they may have ended it from
 * elsewhere. A device without a network shows what it has. `confirmedAt`: when the server last opened or renewed it. A
 * time in the future was written before the clock was set back.
 */
export const mustConfirmSession = (confirmedAt: number): boolean => {
  const ageMs = Date.now() - confirmedAt;
  return navigator.onLine && !(ageMs >= 0 && ageMs < sessionConfirmedHours * hourMs);
};
