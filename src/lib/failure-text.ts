import type { TextKey, Translate } from "../i18n/setup";
import { ApiFailure, failureCode } from "./exchange";

const minuteSeconds = 60;
const secondsMax = 90; // more are told in minutes

/** A text and the number it names. */
export type Words = { text: TextKey; values?: { count: number } };

/** What a caught error says to the person; a limit says how long to wait when the server told. */
export const failureWords = (error: unknown): Words => {
  if (error instanceof ApiFailure && error.code === "rate_limited" && error.retryAfterMs !== undefined) {
    const seconds = Math.ceil(error.retryAfterMs / 1_000);
    if (seconds <= secondsMax) return { text: "shell.rateLimited", values: { count: seconds } };
    return { text: "shell.rateLimitedMinutes", values: { count: Math.ceil(seconds / minuteSeconds) } };
  }
  return { text: `errors.${failureCode(error)}` };
};

/** The same, in a language. */
export const failureText = (error: unknown, t: Translate): string => {
  const { text, values } = failureWords(error);
  return t(text, values);
};
