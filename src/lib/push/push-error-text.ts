import type { Translate } from "#i18n/setup.ts";
import { toErrorText } from "#lib/http/error-text.ts";
import { ApiRequestError } from "#lib/http/http-request.ts";

/** Why notifications could not be turned on: the server's reason, or that of the browser's push service. */
export const toPushErrorText = (error: unknown, t: Translate): string =>
  error instanceof ApiRequestError ? toErrorText(error, t) : t("push.serviceFailed");
