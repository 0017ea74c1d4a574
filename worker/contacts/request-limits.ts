import { type SQL, sql } from "drizzle-orm";
import type { ErrorCode } from "#contract/errors.ts";
import { privateConversationId, type Uuid } from "#contract/ids.ts";
import { dayMs } from "#contract/limits/durations.ts";
import { groupInvitationDays, groupInvitationsPerPairMax } from "#contract/limits/groups.ts";
import { askAgainDays, pendingRequestsMax, requestsReceivedPerDay } from "#contract/limits/people.ts";
import { type Allowance, tierAllowances } from "#contract/settings/trust-tiers.ts";
import type { Db } from "#worker/db/client.ts";
import { hasSearchedNumber, readTrust } from "#worker/people/trust.ts";

/**
 * Limits of the connection requests and invitations to groups that a person may send and receive. Accepted requests and
 * ended contacts do not count: the limits concern people who do not want contact. Requests that the recipient does not
 * see, because they block the sender, use up nobody's quota. The sender gets the same response whether blocked or not.
 */

/** SQL: a pending or declined request. A declined one with a connection is a former contact. */
const isUnwanted = sql`(status = 'pending' OR (status = 'declined' AND connection_id IS NULL))`;

/**
 * SQL: a row made after this time. Ids begin with the time of their creation (RFC 9562, version 7), which is in the
 * indexes: older rows are not read.
 */
const isCreatedSince = (since: number): SQL => {
  const hex = since.toString(16).padStart(12, "0");
  return sql`(id >= ${`${hex.slice(0, 8)}-${hex.slice(8)}`} AND created_at > ${since})`;
};

/** SQL: a request made after this time. */
const isMadeSince = (since: number): SQL => sql`(status IN ('pending', 'declined') AND ${isCreatedSince(since)})`;

/** SQL: an invitation to a group made after this time and not accepted. */
const isInvitedSince = (since: number): SQL => sql`(status <> 'accepted' AND ${isCreatedSince(since)})`;

const countMadeSince = (from: Uuid, since: number): SQL =>
  sql`((SELECT count(*) FROM connection_requests WHERE from_user_id = ${from} AND ${isMadeSince(since)} AND ${isUnwanted})
    + (SELECT count(*) FROM group_invitations WHERE from_user_id = ${from} AND is_contact = 0 AND ${isInvitedSince(since)}))`;

const isVisibleTo = (to: Uuid): SQL =>
  sql`NOT EXISTS (SELECT 1 FROM blocks WHERE blocks.user_id = ${to} AND blocks.blocked_user_id = from_user_id)`;

/** SQL: this person takes requests. */
const takesRequests = (to: Uuid): SQL =>
  sql`NOT EXISTS (SELECT 1 FROM settings WHERE user_id = ${to} AND requests_from = 'nobody')`;

const countPendingTo = (to: Uuid, now: number): SQL =>
  sql`((SELECT count(*) FROM connection_requests WHERE to_user_id = ${to} AND status = 'pending' AND ${isVisibleTo(to)})
    + (SELECT count(*) FROM group_invitations WHERE to_user_id = ${to} AND status = 'pending'
      AND created_at > ${now - groupInvitationDays * dayMs} AND ${isVisibleTo(to)}))`;

const countReceivedSince = (to: Uuid, since: number): SQL =>
  sql`((SELECT count(*) FROM connection_requests WHERE to_user_id = ${to} AND ${isMadeSince(since)}
    AND ${isUnwanted} AND ${isVisibleTo(to)})
    + (SELECT count(*) FROM group_invitations WHERE to_user_id = ${to} AND ${isMadeSince(since)} AND ${isVisibleTo(to)}))`;

/**
 * SQL: invitations of one person to another. Withdrawn ones count, and those that the recipient does not see: the
 * sender cannot use up the recipient's room or fill the directory with them.
 */
const countInvited = (from: Uuid, to: Uuid, since: number): SQL =>
  sql`(SELECT count(*) FROM group_invitations WHERE from_user_id = ${from} AND +to_user_id = ${to} AND ${isInvitedSince(since)})`;

/**
 * SQL: the person declined one of these invitations to groups, and the pause is not over: 1, 7 and then 30 days, as
 * after a declined request.
 */
export const isPausedAfterInvitation = (to: Uuid, declined: SQL, now: number): SQL => {
  const [first, second, third] = askAgainDays.map((days) => days * dayMs);
  return sql`EXISTS (SELECT 1 FROM (SELECT count(*) AS declined, max(updated_at) AS last FROM group_invitations
    WHERE to_user_id = ${to} AND status = 'declined' AND ${declined})
    WHERE declined > 0 AND last + CASE declined WHEN 1 THEN ${first} WHEN 2 THEN ${second} ELSE ${third} END > ${now})`;
};

type RequestCounts = {
  phone: string;
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

/**
 * Requests that a person may make today. To somebody who searched for their whole number they make as many as people of
 * the highest tier: the two know each other.
 */
const selectOwnMax = (env: Env, to: Uuid, phone: string, requestsPerDay: number, now: number): SQL => {
  const { trusted } = tierAllowances;
  if (requestsPerDay === trusted.requestsPerDay) return sql`${requestsPerDay}`;
  return sql`(CASE WHEN ${hasSearchedNumber(env, to, phone, now)} THEN ${trusted.requestsPerDay} ELSE ${requestsPerDay} END)`;
};

/** Quota for a request or an invitation of a stranger. `ahead`: other people whom the sender reaches by the same request first. */
const checkRequestQuota = async (
  env: Env,
  db: Db,
  from: Uuid,
  to: Uuid,
  ahead = 0,
  now = Date.now(),
): Promise<RequestQuota> => {
  const { tier } = await readTrust(env, db, from, now);
  const madeCount = countMadeSince(from, now - dayMs);
  const declinedRequests = sql`FROM connection_requests WHERE conversation_id = ${privateConversationId(from, to)}
    AND from_user_id = ${from} AND status = 'declined' AND connection_id IS NULL`;
  const counts =
    await db.get<RequestCounts>(sql`SELECT (SELECT phone FROM profiles WHERE id = ${from}) AS phone, ${madeCount} AS made,
    ${countPendingTo(to, now)} AS pending, ${countReceivedSince(to, now - dayMs)} AS received, ${takesRequests(to)} AS isOpen,
    (SELECT count(*) ${declinedRequests}) AS declined,
    (SELECT ifnull(max(updated_at), 0) ${declinedRequests}) AS declinedAt`);
  const pause = askAgainDays[Math.min(counts.declined, askAgainDays.length) - 1] ?? 0;
  const nextAllowedAt = counts.declinedAt + pause * dayMs;
  if (counts.declined > 0 && nextAllowedAt > now)
    return { code: "request_declined", retryAfterMs: nextAllowedAt - now };
  const { requestsPerDay } = tierAllowances[tier];
  const ownMax = selectOwnMax(env, to, counts.phone ?? "", requestsPerDay, now);
  const made = counts.made + ahead;
  if (made >= requestsPerDay) {
    const { hasRoom } = await db.get<{ hasRoom: number }>(sql`SELECT ${made} < ${ownMax} AS hasRoom`);
    if (!hasRoom) return { code: "requests_used_up", retryAfterMs: dayMs };
  }
  // The lower tiers may use half of the quota: mass-created accounts must not block everybody else.
  const hasHalf = tier === "new" || tier === "confirmed";
  const [pendingMax, receivedMax] = [pendingRequestsMax, requestsReceivedPerDay].map((max) =>
    hasHalf ? max / 2 : max,
  );
  if (!counts.isOpen || counts.pending >= (pendingMax ?? 0) || counts.received >= (receivedMax ?? 0))
    return { code: "request_not_possible", retryAfterMs: dayMs };
  return {
    condition: sql`${madeCount} < ${ownMax} AND ${countPendingTo(to, now)} < ${pendingMax ?? 0}
      AND ${countReceivedSince(to, now - dayMs)} < ${receivedMax ?? 0} AND ${takesRequests(to)}`,
  };
};

/**
 * Quota for a contact request. It waits after an invitation to a group that this person declined as a stranger. The
 * refusal does not reveal that: it is the one of somebody who takes no requests.
 */
export const checkContactRequestQuota = async (
  env: Env,
  db: Db,
  from: Uuid,
  to: Uuid,
  now = Date.now(),
): Promise<RequestQuota> => {
  const quota = await checkRequestQuota(env, db, from, to, 0, now);
  if ("code" in quota) return quota;
  const isPaused = isPausedAfterInvitation(to, sql`from_user_id = ${from} AND is_contact = 0`, now);
  const { paused } = await db.get<{ paused: number }>(sql`SELECT ${isPaused} AS paused`);
  return paused === 1 ? { code: "request_not_possible", retryAfterMs: dayMs } : quota;
};

/** Remaining quota for an invitation of a contact, who is not a new person: only the recipient's room counts. */
const checkContactQuota = async (db: Db, to: Uuid, now: number): Promise<RequestQuota> => {
  const condition = sql`(${countPendingTo(to, now)} < ${pendingRequestsMax}
    AND ${countReceivedSince(to, now - dayMs)} < ${requestsReceivedPerDay})`;
  const { hasRoom } = await db.get<{ hasRoom: number }>(sql`SELECT ${condition} AS hasRoom`);
  return hasRoom === 1 ? { condition } : { code: "request_not_possible", retryAfterMs: dayMs };
};

/** Remaining quota for an invitation to a group. `ahead`: strangers invited by the same request first. */
export const checkInvitationQuota = async (
  env: Env,
  db: Db,
  { from, to, isContact, ahead }: { from: Uuid; to: Uuid; isContact: boolean; ahead: number },
  now = Date.now(),
): Promise<RequestQuota> => {
  const invitedCount = countInvited(from, to, now - dayMs);
  const { invited } = await db.get<{ invited: number }>(sql`SELECT ${invitedCount} AS invited`);
  if (invited >= groupInvitationsPerPairMax) return { code: "requests_used_up", retryAfterMs: dayMs };
  const quota = isContact
    ? await checkContactQuota(db, to, now)
    : await checkRequestQuota(env, db, from, to, ahead, now);
  if ("code" in quota) return quota;
  return { condition: sql`(${invitedCount} < ${groupInvitationsPerPairMax} AND ${quota.condition})` };
};

/** Remaining allowance of a person for today, for their settings. */
export const readAllowance = async (env: Env, db: Db, me: Uuid, now = Date.now()): Promise<Allowance> => {
  const { tier, canVerify } = await readTrust(env, db, me, now);
  const { requestsPerDay, groupsPerDay, groupMembersMax, postsPerDay } = tierAllowances[tier];
  const { made } = await db.get<{ made: number }>(sql`SELECT ${countMadeSince(me, now - dayMs)} AS made`);
  return {
    tier,
    requests: { per_day: requestsPerDay, left: Math.max(0, requestsPerDay - made) },
    groups_per_day: groupsPerDay,
    group_members_max: groupMembersMax,
    posts_per_day: postsPerDay,
    can_verify: canVerify,
  };
};
