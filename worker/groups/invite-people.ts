import type { ErrorCode } from "#contract/errors.ts";
import type { Group, GroupWithInvited } from "#contract/groups.ts";
import type { Uuid } from "#contract/ids.ts";
import { isRefusal, type Refusal } from "#contract/wire/commands.ts";
import { openDb } from "#worker/db/client.ts";
import { pushPendingAfterResponse } from "#worker/lib/contact-updates.ts";
import type { AppContext } from "#worker/lib/http/app.ts";
import { refuse } from "#worker/lib/http/refusal.ts";
import type { AddedMember, NewMemberCheck } from "#worker/objects/rpc/groups.ts";
import { readGroupMembersMax } from "#worker/people/trust.ts";
import { askNewGroup, readNewGroup } from "./ask-group.ts";
import {
  checkInvitationQuotas,
  insertGroupInvitation,
  listUnstoredInvitations,
  withdrawInvitations,
} from "./invitation-queries.ts";
import type { InvitedPerson } from "./queries.ts";

/** Adding and inviting people to a group (docs/decisions/group-invitations.md). */

/** Why somebody cannot be invited. */
export const inviteRefusals = [
  "user_not_found",
  "contact_blocked",
  "request_declined",
  "requests_used_up",
  "request_not_possible",
] as const satisfies ErrorCode[];

/** Whether a group would have more members than the caller's trust tier allows. */
export const isTooLargeForTier = async (c: AppContext, count: number): Promise<boolean> => {
  const max = await readGroupMembersMax(c.env, openDb(c.env), c.var.caller.user);
  return max !== null && count > max;
};

type Quotas = Awaited<ReturnType<typeof checkInvitationQuotas>>;
/** Invitations that may be sent, each with its quota. */
export type CheckedInvitations = { people: readonly InvitedPerson[]; quotas: Quotas };
export type InvitationRefusal = { error: ErrorCode; retryAfterMs: number };

/** Checks the limits of the sender and of each recipient before anything is written. */
export const checkInvitations = async (
  c: AppContext,
  people: readonly InvitedPerson[],
): Promise<CheckedInvitations | InvitationRefusal> => {
  const quotas = await checkInvitationQuotas(c.env, openDb(c.env), c.var.caller.user, people);
  const refused = quotas.find((quota) => "code" in quota);
  return refused && "code" in refused
    ? { error: refused.code, retryAfterMs: refused.retryAfterMs }
    : { people, quotas };
};

/**
 * Adds people to a group and invites others. The group stores its invitations first, because it decides who may accept.
 * It gives back those that the directory does not store, because a concurrent request used up the quota. A Worker that
 * stops in between leaves one that only its sender sees; the repeated request stores it.
 */
export const addAndInvite = async (
  c: AppContext,
  group: Uuid,
  added: AddedMember[],
  { people, quotas }: CheckedInvitations,
): Promise<{ group: Group; unstored: Uuid[] } | Refusal> => {
  const invited = people.map(({ user }) => user);
  const run = (rpc: Parameters<Parameters<typeof askNewGroup>[2]>[0], user: Uuid) =>
    rpc.runGroupCommand(user, { type: "add", people: added, invited });
  const result = await askNewGroup(c, group, run);
  if (isRefusal(result)) return result;
  const db = openDb(c.env);
  const from = c.var.caller.user;
  const at = Date.now();
  for (const [index, person] of people.entries()) {
    const quota = quotas[index];
    if (quota) await insertGroupInvitation(db, { group, from, invited: person, quota });
  }
  const sent = invited.map((user) => ({ user, at }));
  const unstored = await listUnstoredInvitations(db, { group, from }, sent);
  for (const user of unstored) {
    const undone = await askNewGroup(c, group, (rpc, me) => rpc.runGroupCommand(me, { type: "uninvite", user }));
    if (isRefusal(undone)) return undone;
  }
  if (invited.length > 0) pushPendingAfterResponse(c, "notify invited people", invited);
  const read = await readNewGroup(c, group);
  return isRefusal(read) ? read : { group: read, unstored };
};

export const respondWithInvited = (
  c: AppContext,
  result: Awaited<ReturnType<typeof addAndInvite>>,
  people: readonly InvitedPerson[],
) => {
  if (isRefusal(result)) return refuse(c, result.error);
  const invited = people.map(({ user }) => user).filter((user) => !result.unstored.includes(user));
  return c.json({ ...result.group, invited } satisfies GroupWithInvited, 200);
};

/** Withdraws the invitations of people who were invited before and are added now. */
export const withdrawJoined = async (
  c: AppContext,
  group: Uuid,
  added: readonly AddedMember[],
  known: NewMemberCheck,
): Promise<void> => {
  const invited = new Set(known.invited.map(({ user }) => user));
  for (const { user } of added) if (invited.has(user)) await withdrawInvitations(c.env, group, { to: user });
};

/** The people of these who need a row in the directory: all but those whose invitation is complete. */
export const filterUnstored = async (
  c: AppContext,
  group: Uuid,
  people: readonly InvitedPerson[],
  known: NewMemberCheck,
): Promise<InvitedPerson[]> => {
  const from = c.var.caller.user;
  const unstored = await listUnstoredInvitations(openDb(c.env), { group, from }, known.invited);
  const isStored = new Set(known.invited.flatMap(({ user }) => (unstored.includes(user) ? [] : [user])));
  return people.filter(({ user }) => !isStored.has(user) && !known.members.includes(user));
};

/** Invites people to a group that was just created, unless they were invited or joined by the same request before. */
export const inviteToNewGroup = async (c: AppContext, group: Uuid, { people, quotas }: CheckedInvitations) => {
  const ids = people.map(({ user }) => user);
  const known = await askNewGroup(c, group, (rpc, user) => rpc.checkNewMembers(user, ids));
  if (isRefusal(known)) return refuse(c, known.error);
  const unstored = new Set(await filterUnstored(c, group, people, known));
  const isNew = people.map((person) => unstored.has(person));
  const invitations = { people: people.filter((_, n) => isNew[n]), quotas: quotas.filter((_, n) => isNew[n]) };
  const invited = people.filter(({ user }) => !known.members.includes(user));
  return respondWithInvited(c, await addAndInvite(c, group, [], invitations), invited);
};
