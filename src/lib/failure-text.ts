import type { Translate } from "../i18n/setup";
import { ApiFailure, failureCode } from "./exchange";

const minuteSeconds = 60;
const secondsMax = 90; // more are told in minutes

/** What a caught error says to the person; a limit says how long to wait when the server told. */
export const failureText = (error: unknown, t: Translate): string => {
  if (error instanceof ApiFailure && error.code === "rate_limited" && error.retryAfterMs !== undefined) {
    const seconds = Math.ceil(error.retryAfterMs / 1_000);
    if (seconds <= secondsMax) return t("shell.rateLimited", { count: seconds });
    return t("shell.rateLimitedMinutes", { count: Math.ceil(seconds / minuteSeconds) });
  }
  return t(`errors.${failureCode(error)}`);
};
