import { and, eq, inArray } from "drizzle-orm";
import type { ErrorCode } from "#contract/errors.ts";
import type { GroupMember, MemberPage } from "#contract/groups.ts";
import { privateConversationId, type Uuid } from "#contract/ids.ts";
import { groupInvitationsAtOnce, memberPageRows } from "#contract/limits/groups.ts";
import type { Db } from "#worker/db/client.ts";
import { blocks, connections } from "#worker/db/relation-schema.ts";
import { listMemberProfiles } from "#worker/db/relations.ts";
import { profiles, settings } from "#worker/db/schema.ts";
import { selectAudienceFor } from "#worker/lib/exceptions.ts";
import type { AddedMember, MemberEntries } from "#worker/objects/rpc/groups.ts";

const toChunks = <T>(all: readonly T[]): T[][] =>
  Array.from({ length: Math.ceil(all.length / memberPageRows) }, (_, i) =>
    all.slice(i * memberPageRows, (i + 1) * memberPageRows),
  );

const findAddability = async (db: Db, me: Uuid, others: Uuid[]) => {
  const pairs = others.map((other) => privateConversationId(me, other));
  const [contacts, blockedByMe, blockingMe, notAddable] = await db.batch([
    db
      .select({ a: connections.user1_id, b: connections.user2_id })
      .from(connections)
      .where(inArray(connections.conversation_id, pairs)),
    db
      .select({ other: blocks.blocked_user_id })
      .from(blocks)
      .where(and(eq(blocks.user_id, me), inArray(blocks.blocked_user_id, others))),
    db
      .select({ other: blocks.user_id })
      .from(blocks)
      .where(and(eq(blocks.blocked_user_id, me), inArray(blocks.user_id, others))),
    db
      .select({ other: settings.user_id })
      .from(settings)
      .where(and(eq(selectAudienceFor("groupAdds", me), "nobody"), inArray(settings.user_id, others))),
  ]);
  return {
    contacts: new Set(contacts.map(({ a, b }) => (a === me ? b : a))),
    blocked: blockedByMe.map(({ other }) => other),
    blockers: new Set(blockingMe.map(({ other }) => other)),
    unwilling: new Set(notAddable.map(({ other }) => other)),
  };
};

/** Person who may not be added to a group directly, and whether they are a contact of who adds them. */
export type InvitedPerson = { user: Uuid; isContact: boolean };
export type NewMembersPlan = { added: AddedMember[]; invited: InvitedPerson[] };

const hasProfiles = async (db: Db, people: readonly Uuid[]): Promise<boolean> => {
  for (const chunk of toChunks(people))
    if ((await db.$count(profiles, inArray(profiles.id, chunk))) < chunk.length) return false;
  return true;
};

/**
 * Who of these people is added to a group and who is invited, or the reason why the caller may do neither. Added are
 * contacts who allow it; `toInvite` names people who can only be invited all the same. The result does not reveal that
 * somebody blocks the caller.
 */
export const planNewMembers = async (
  db: Db,
  me: Uuid,
  people: readonly Uuid[],
  toInvite: readonly Uuid[] = [],
): Promise<NewMembersPlan | ErrorCode> => {
  const others = [...new Set(people)].filter((other) => other !== me);
  const mustInvite = new Set(toInvite);
  const plan: NewMembersPlan = { added: [], invited: [] };
  for (const chunk of toChunks(others)) {
    const { contacts, blocked, blockers, unwilling } = await findAddability(db, me, chunk);
    if (blocked.length > 0) return "contact_blocked";
    for (const user of chunk) {
      const isContact = contacts.has(user);
      if (isContact && !unwilling.has(user) && !mustInvite.has(user))
        plan.added.push({ user, isHidden: blockers.has(user) });
      else plan.invited.push({ user, isContact });
    }
  }
  if (plan.invited.length > groupInvitationsAtOnce) return "requests_used_up";
  const invited = plan.invited.map(({ user }) => user);
  return (await hasProfiles(db, invited)) ? plan : "user_not_found";
};

/** Members with their profiles, as this member may see them. */
export const toMemberPage = async (
  db: Db,
  me: Uuid,
  { members: seats, ...rest }: MemberEntries,
): Promise<MemberPage> => {
  const profiles = await listMemberProfiles(
    db,
    me,
    new Map(seats.map(({ user, left }) => [user, left ? "id" : "group"])),
  );
  const byId = new Map(profiles.map((profile) => [profile.id, profile]));
  const members = seats.map(({ user, ...seat }): GroupMember => ({ ...seat, profile: byId.get(user) ?? null }));
  return { ...rest, members };
};
