import { sessionConfirmedHours } from "#contract/limits/authentication.ts";
import { hourMs } from "#contract/limits/durations.ts";

/**
 * Whether a device may show what it holds before the server has confirmed its session again: the person may have ended
 * it from elsewhere. A device without a network shows it in any case. `confirmedAt`: when the server last opened or
 * renewed the session, by the clock of the device. A time in the future was written before that was set back.
 */
export const isRecentlyConfirmed = (confirmedAt: number, now: number): boolean =>
  confirmedAt <= now && now - confirmedAt < sessionConfirmedHours * hourMs;
