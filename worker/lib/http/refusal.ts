import type { Context, TypedResponse } from "hono";
import { type ApiError, type ErrorCode, errorStatus } from "#contract/errors.ts";

/** Messages for developers, in English. The app shows its own text for the error code instead. */
const developerMessages: Partial<Record<ErrorCode, string>> = {
  phone_exists: "User already registered",
  invalid_credentials: "Invalid login credentials",
  weak_password: "Password should be at least 6 characters with one upper-case letter and one digit",
  captcha_failed: "captcha protection: request disallowed",
  no_authorization: "This endpoint requires a valid session cookie or Bearer token",
  bad_jwt: "invalid JWT",
  session_not_found: "Session from session_id claim in JWT does not exist",
  session_expired: "Invalid Refresh Token: Session Expired",
  session_revoked: "Invalid Refresh Token: Session Revoked",
  refresh_token_not_found: "Invalid Refresh Token: Refresh Token Not Found",
  refresh_token_already_used: "Invalid Refresh Token: Already Used",
  unsupported_grant_type: "unsupported_grant_type",
  rate_limited: "Request rate limit reached",
  internal: "Internal error",
};

type RefusalStatus<C extends ErrorCode> = (typeof errorStatus)[C];

const toApiError = (code: ErrorCode, msg?: string): ApiError => ({
  code: errorStatus[code],
  error_code: code,
  msg: msg ?? developerMessages[code] ?? code.replaceAll("_", " "),
});

/**
 * Refuses a request with an error code. `retryAfterMs` becomes the Retry-After header in seconds; `more` adds fields to
 * the body.
 */
export const refuse = <C extends ErrorCode>(
  c: Context,
  code: C,
  { msg, retryAfterMs, more }: { msg?: string; retryAfterMs?: number; more?: Record<string, string> } = {},
): Response & TypedResponse<ApiError, RefusalStatus<C>, "json"> => {
  if (retryAfterMs !== undefined) c.header("retry-after", String(Math.ceil(retryAfterMs / 1_000)));
  return c.json({ ...more, ...toApiError(code, msg) }, errorStatus[code]) as Response &
    TypedResponse<ApiError, RefusalStatus<C>, "json">;
};

/** Refusal without a Hono context, for the WebSocket upgrade. */
export const createRefusalResponse = (code: ErrorCode, retryAfterMs?: number): Response =>
  Response.json(toApiError(code), {
    status: errorStatus[code],
    headers: retryAfterMs === undefined ? {} : { "retry-after": String(Math.ceil(retryAfterMs / 1_000)) },
  });
