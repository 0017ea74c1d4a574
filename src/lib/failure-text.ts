import type { Translate } from "../i18n/setup";
import { ApiFailure, failureCode } from "./exchange";

const minuteSeconds = 60;
const hourSeconds = 60 * minuteSeconds;
const daySeconds = 24 * hourSeconds;
const secondsMax = 90; // more are told in minutes
const minutesMax = 90; // and these in hours
const hoursMax = 36; // and these in days

/** What a caught error says to the person; a limit says how long to wait when the server told. */
export const failureText = (error: unknown, t: Translate): string => {
  if (error instanceof ApiFailure && error.code === "rate_limited" && error.retryAfterMs !== undefined) {
    const seconds = Math.ceil(error.retryAfterMs / 1_000);
    if (seconds <= secondsMax) return t("shell.rateLimited", { count: seconds });
    if (seconds <= minutesMax * minuteSeconds) {
      return t("shell.rateLimitedMinutes", { count: Math.ceil(seconds / minuteSeconds) });
    }
    if (seconds <= hoursMax * hourSeconds) {
      return t("shell.rateLimitedHours", { count: Math.ceil(seconds / hourSeconds) });
    }
    return t("shell.rateLimitedDays", { count: Math.ceil(seconds / daySeconds) });
  }
  return t(`errors.${failureCode(error)}`);
};
