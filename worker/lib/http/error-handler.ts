import type { ErrorHandler, NotFoundHandler } from "hono";
import { HTTPException } from "hono/http-exception";
import type { ErrorCode } from "#contract/errors.ts";
import { logError } from "#worker/lib/log.ts";
import type { AppEnv } from "./app.ts";
import { refuse } from "./refusal.ts";

const codeByStatus: Record<number, ErrorCode> = { 400: "invalid_input", 413: "too_large", 415: "unsupported_media" };

/** The error and those it came from. */
const listCauses = (error: unknown): Error[] => {
  const causes: Error[] = [];
  for (let at = error; at instanceof Error; at = at.cause) causes.push(at);
  return causes;
};

/** What was about to be written hangs on somebody whose account went meanwhile. */
const isForeignKeyFailure = (error: unknown): boolean =>
  listCauses(error).some(({ message }) => message.includes("FOREIGN KEY constraint failed"));

const outageRetryMs = 2_000;

// The platform's words for a database or an object that it cannot reach.
const unreachablePattern = /^D1_|^Network connection lost|^internal error/i;
// SQLite says that the statement or its values are wrong: it will be so next time.
const sqlErrorPattern = /SQLITE_(ERROR|CONSTRAINT|MISMATCH|RANGE|TOOBIG|MISUSE|AUTH|SCHEMA)/;

/** The directory or an object could not be reached, or has too much to do: nothing is wrong with what was asked. */
const isStorageOutage = (error: unknown): boolean => {
  const causes = listCauses(error);
  if (causes.some(({ message }) => sqlErrorPattern.test(message))) return false;
  return causes.some((cause) => {
    const { retryable, overloaded } = cause as { retryable?: unknown; overloaded?: unknown };
    return retryable === true || overloaded === true || unreachablePattern.test(cause.message);
  });
};

/** The one place where what was thrown becomes an answer: a code, and nothing of the error itself. */
export const handleError: ErrorHandler<AppEnv> = (error, c) => {
  const code = error instanceof HTTPException ? codeByStatus[error.status] : undefined;
  if (code) return refuse(c, code);
  if (isForeignKeyFailure(error)) return refuse(c, "account_deleted");
  logError(`${c.req.method} ${c.req.routePath}`, error);
  return isStorageOutage(error) ? refuse(c, "unavailable", { retryAfterMs: outageRetryMs }) : refuse(c, "internal");
};

type Route = { method: string; path: string };

const toPattern = (path: string): RegExp =>
  new RegExp(`^${path.replace(/[.+?^$()|[\]\\]/g, "\\$&").replace(/:[^/]+/g, "[^/]+")}/?$`);

/** What is not there: 405 with the methods that are when only the method is wrong, else 404. */
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
