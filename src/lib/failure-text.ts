import type { Translate } from "../i18n/setup";
import { ApiFailure, failureCode } from "./exchange";

/** What a caught error says to the person; a limit says how long to wait when the server told. */
export const failureText = (error: unknown, t: Translate): string => {
  if (error instanceof ApiFailure && error.code === "rate_limited" && error.retryAfterMs !== undefined) {
    return t("shell.rateLimited", { count: Math.ceil(error.retryAfterMs / 1_000) });
  }
  return t(`errors.${failureCode(error)}`);
};
