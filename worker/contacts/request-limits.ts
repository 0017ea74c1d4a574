import { type SQL, sql } from "drizzle-orm";
import type { ErrorCode } from "#contract/errors.ts";
import { privateConversationId, type Uuid } from "#contract/ids.ts";
import {
  askAgainDays,
  newAccountHours,
  pendingRequestsMax,
  requestsNewMax,
  requestsPerDay,
  requestsReceivedPerDay,
} from "#contract/limits.ts";
import type { Db } from "#worker/db/client.ts";

/**
 * Limits of the connection requests that a person may send and receive. Accepted requests and ended contacts do not
 * count: the limits concern people who do not want contact. Requests that the recipient does not see, because they
 * block the sender, use up nobody's quota. The sender gets the same response whether blocked or not.
 */

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;

/** SQL: a pending or declined request. A declined one with a connection is a former contact. */
const isUnwanted = sql`(status = 'pending' OR (status = 'declined' AND connection_id IS NULL))`;

const countMadeSince = (from: Uuid, since: number): SQL =>
  sql`(SELECT count(*) FROM connection_requests WHERE from_user_id = ${from} AND ${isUnwanted} AND created_at > ${since})`;

const isVisibleTo = (to: Uuid): SQL =>
  sql`NOT EXISTS (SELECT 1 FROM blocks WHERE blocks.user_id = ${to} AND blocks.blocked_user_id = from_user_id)`;

/** SQL: this person takes requests. */
const takesRequests = (to: Uuid): SQL =>
  sql`NOT EXISTS (SELECT 1 FROM settings WHERE user_id = ${to} AND requests_from = 'nobody')`;

const countPendingTo = (to: Uuid): SQL =>
  sql`(SELECT count(*) FROM connection_requests WHERE to_user_id = ${to} AND status = 'pending' AND ${isVisibleTo(to)})`;

const countReceivedSince = (to: Uuid, since: number): SQL =>
  sql`(SELECT count(*) FROM connection_requests WHERE to_user_id = ${to} AND status IN ('pending', 'declined')
    AND ${isUnwanted} AND created_at > ${since} AND ${isVisibleTo(to)})`;

type RequestCounts = {
  accountCreatedAt: number;
  made: number;
  pending: number;
  received: number;
  isOpen: number;
  declined: number;
  declinedAt: number;
};

type RequestRefusal = {
  /** `request_not_possible` reveals neither the recipient's requests nor their settings. */
  code: Extract<ErrorCode, "request_declined" | "requests_used_up" | "request_not_possible">;
  retryAfterMs: number;
};

/** Remaining quota for a request: the reason for a refusal, or an SQL condition that holds while there is room. */
type RequestQuota = RequestRefusal | { condition: SQL };

export const checkRequestQuota = async (db: Db, from: Uuid, to: Uuid, now = Date.now()): Promise<RequestQuota> => {
  const accountCreatedAt = sql`(SELECT created_at FROM users WHERE id = ${from})`;
  const newSince = now - newAccountHours * hourMs;
  const madeCount = sql`CASE WHEN ${accountCreatedAt} > ${newSince} THEN ${countMadeSince(from, newSince)} ELSE ${countMadeSince(from, now - dayMs)} END`;
  const declinedRequests = sql`FROM connection_requests WHERE conversation_id = ${privateConversationId(from, to)}
    AND from_user_id = ${from} AND status = 'declined' AND connection_id IS NULL`;
  const counts =
    await db.get<RequestCounts>(sql`SELECT ${accountCreatedAt} AS accountCreatedAt, ${madeCount} AS made, ${countPendingTo(to)} AS pending,
    ${countReceivedSince(to, now - dayMs)} AS received, ${takesRequests(to)} AS isOpen, (SELECT count(*) ${declinedRequests}) AS declined,
    (SELECT ifnull(max(updated_at), 0) ${declinedRequests}) AS declinedAt`);
  const isNew = counts.accountCreatedAt > newSince;
  const pause = askAgainDays[Math.min(counts.declined, askAgainDays.length) - 1] ?? 0;
  const nextAllowedAt = counts.declinedAt + pause * dayMs;
  if (counts.declined > 0 && nextAllowedAt > now)
    return { code: "request_declined", retryAfterMs: nextAllowedAt - now };
  const ownMax = isNew ? requestsNewMax : requestsPerDay;
  if (counts.made >= ownMax) return { code: "requests_used_up", retryAfterMs: dayMs };
  // New accounts may use half of the quota: mass-created accounts must not block everybody else.
  const [pendingMax, receivedMax] = [pendingRequestsMax, requestsReceivedPerDay].map((max) => (isNew ? max / 2 : max));
  if (!counts.isOpen || counts.pending >= (pendingMax ?? 0) || counts.received >= (receivedMax ?? 0))
    return { code: "request_not_possible", retryAfterMs: dayMs };
  return {
    condition: sql`${madeCount} < ${ownMax} AND ${countPendingTo(to)} < ${pendingMax ?? 0}
      AND ${countReceivedSince(to, now - dayMs)} < ${receivedMax ?? 0} AND ${takesRequests(to)}`,
  };
};
