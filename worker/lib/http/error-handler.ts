import type { ErrorHandler, NotFoundHandler } from "hono";
import { HTTPException } from "hono/http-exception";
import type { ErrorCode } from "#contract/errors.ts";
import { HashingOverloadError } from "#worker/lib/limits/hashing-limit.ts";
import { logError } from "#worker/lib/log.ts";
import type { AppEnv } from "./app.ts";
import { refuse } from "./refusal.ts";

const codeByStatus: Record<number, ErrorCode> = { 400: "invalid_input", 413: "too_large", 415: "unsupported_media" };

/** An error and its causes. */
const listCauses = (error: unknown): Error[] => {
  const causes: Error[] = [];
  for (let at = error; at instanceof Error; at = at.cause) causes.push(at);
  return causes;
};

/** Tests for a foreign key failure: the row's owner deleted their account meanwhile. */
const isForeignKeyFailure = (error: unknown): boolean =>
  listCauses(error).some(({ message }) => message.includes("FOREIGN KEY constraint failed"));

const outageRetryMs = 2_000;

// Messages of the platform for an unreachable database or object.
const unreachablePattern = /^D1_|^Network connection lost|^internal error/i;
// SQLite errors of the statement or its values, which a retry would repeat.
const sqlErrorPattern = /SQLITE_(ERROR|CONSTRAINT|MISMATCH|RANGE|TOOBIG|MISUSE|AUTH|SCHEMA)/;

/** Tests for an unreachable or overloaded directory or object; the request itself is valid. */
const isStorageOutage = (error: unknown): boolean => {
  const causes = listCauses(error);
  if (causes.some(({ message }) => sqlErrorPattern.test(message))) return false;
  return causes.some((cause) => {
    const { retryable, overloaded } = cause as { retryable?: unknown; overloaded?: unknown };
    return retryable === true || overloaded === true || unreachablePattern.test(cause.message);
  });
};

/** Turns thrown errors into responses: an error code, without any detail of the error. */
export const handleError: ErrorHandler<AppEnv> = (error, c) => {
  const code = error instanceof HTTPException ? codeByStatus[error.status] : undefined;
  if (code) return refuse(c, code);
  if (error instanceof HashingOverloadError) return refuse(c, "unavailable", error);
  if (isForeignKeyFailure(error)) return refuse(c, "account_deleted");
  logError(`${c.req.method} ${c.req.routePath}`, error);
  return isStorageOutage(error) ? refuse(c, "unavailable", { retryAfterMs: outageRetryMs }) : refuse(c, "internal");
};

type Route = { method: string; path: string };

const toPattern = (path: string): RegExp =>
  new RegExp(`^${path.replace(/[.+?^$()|[\]\\]/g, "\\$&").replace(/:[^/]+/g, "[^/]+")}/?$`);

/** Handles unknown routes: 405 with an Allow header if the path exists, otherwise 404. */
export const createNotFoundHandler = (routes: () => readonly Route[]): NotFoundHandler<AppEnv> => {
  let table: { method: string; pattern: RegExp }[] | undefined;
  return (c) => {
    table ??= routes()
      .filter(({ method, path }) => method !== "ALL" && !path.includes("*"))
      .map(({ method, path }) => ({ method, pattern: toPattern(path) }));
    const allowed = new Set(table.filter(({ pattern }) => pattern.test(c.req.path)).map(({ method }) => method));
    if (allowed.size === 0) return refuse(c, "not_found");
    c.header("allow", [...allowed].join(", "));
    return refuse(c, "method_not_allowed");
  };
};
