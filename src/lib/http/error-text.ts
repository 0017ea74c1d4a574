import type { TextKey, Translate } from "#i18n/setup.ts";
import { ApiRequestError, toErrorCode } from "./http-request.ts";

const minuteSeconds = 60;
const hourSeconds = 60 * minuteSeconds;
const daySeconds = 24 * hourSeconds;
const secondsMax = 90; // longer waits are shown in minutes
const minutesMax = 90; // and these in hours
const hoursMax = 36; // and these in days

/** Text key with its count. */
export type LocalizedError = { text: TextKey; values?: { count: number } };

/** Message of any caught error; a rate limit includes the waiting time if the server sent it. */
export const toLocalizedError = (error: unknown): LocalizedError => {
  if (error instanceof ApiRequestError && error.code === "rate_limited" && error.retryAfterMs !== undefined) {
    const seconds = Math.ceil(error.retryAfterMs / 1_000);
    const toWaitText = (text: TextKey, unit: number): LocalizedError => ({
      text,
      values: { count: Math.ceil(seconds / unit) },
    });
    if (seconds <= secondsMax) return toWaitText("shell.rateLimited", 1);
    if (seconds <= minutesMax * minuteSeconds) return toWaitText("shell.rateLimitedMinutes", minuteSeconds);
    if (seconds <= hoursMax * hourSeconds) return toWaitText("shell.rateLimitedHours", hourSeconds);
    return toWaitText("shell.rateLimitedDays", daySeconds);
  }
  return { text: `errors.${toErrorCode(error)}` };
};

/** Same message as a localised text. */
export const toErrorText = (error: unknown, t: Translate): string => {
  const { text, values = {} } = toLocalizedError(error);
  return t(text, values);
};
