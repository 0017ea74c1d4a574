import { and, eq, inArray } from "drizzle-orm";
import type { ErrorCode } from "#contract/errors.ts";
import type { GroupMember, MemberPage } from "#contract/groups.ts";
import { privateConversationId, type Uuid } from "#contract/ids.ts";
import { memberPageRows } from "#contract/limits.ts";
import type { Db } from "#worker/db/client.ts";
import { listMemberProfiles } from "#worker/db/relations.ts";
import { blocks, connections, settings } from "#worker/db/schema.ts";
import { selectAudienceFor } from "#worker/lib/exceptions.ts";
import type { AddedMember, MemberEntries } from "#worker/objects/rpc.ts";

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
    contacts: contacts.map(({ a, b }) => (a === me ? b : a)),
    blocked: blockedByMe.map(({ other }) => other),
    blockers: new Set(blockingMe.map(({ other }) => other)),
    unwilling: notAddable.map(({ other }) => other),
  };
};

/**
 * Contacts to add to a group, or the reason why one of them cannot be added: members must be contacts whom the caller
 * does not block and who allow being added. The result does not reveal that somebody blocks the caller.
 */
export const toAddedMembers = async (db: Db, me: Uuid, people: readonly Uuid[]): Promise<AddedMember[] | ErrorCode> => {
  const others = [...new Set(people)].filter((other) => other !== me);
  const added: AddedMember[] = [];
  for (const chunk of toChunks(others)) {
    const { contacts, blocked, blockers, unwilling: notAddable } = await findAddability(db, me, chunk);
    if (contacts.length < chunk.length) return "not_your_contact";
    if (blocked.length > 0) return "contact_blocked";
    if (notAddable.length > 0) return "not_addable";
    added.push(...chunk.map((user) => ({ user, isHidden: blockers.has(user) })));
  }
  return added;
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
