import { and, count, desc, eq, inArray, not, sql } from "drizzle-orm";
import { type ConversationId, otherMember, privateConversationId, type Uuid } from "#contract/ids.ts";
import { dayMs } from "#contract/limits/durations.ts";
import { groupInvitationDays, groupInvitationsListedMax } from "#contract/limits/groups.ts";
import type { FoundPerson, NumberNotice, Profile, Relation } from "#contract/people.ts";
import { type ProfileAccess, type StoredProfile, toVisibleProfile } from "#worker/lib/profile-visibility.ts";
import type { Db } from "./client.ts";
import { blocks, connection_requests, connections, group_invitations } from "./relation-schema.ts";
import { number_notices, profiles } from "./schema.ts";
import { selectProfiles } from "./visible-profiles.ts";

/** Relations between people, read from the directory. */

type ConnectionLink = { id: Uuid; conversation_id: ConversationId; request_id: Uuid | null; created_at: number };
const connectionColumns = {
  id: connections.id,
  conversation_id: connections.conversation_id,
  request_id: connections.request_id,
  created_at: connections.created_at,
};

/** Connection between two people, in either order. */
export const findConnection = (db: Db, a: Uuid, b: Uuid): Promise<ConnectionLink | undefined> =>
  db
    .select(connectionColumns)
    .from(connections)
    .where(eq(connections.conversation_id, privateConversationId(a, b)))
    .get();

type ContactState = Omit<Relation, "profile">;
const noContactState: ContactState = { state: "none", request_id: null, connection_id: null, since: 0, blocked: false };

/** SQL: a pending request whose sender is blocked by its recipient, and which the recipient therefore does not see. */
export const isHiddenRequest = (me: Uuid) =>
  sql`(${connection_requests.status} = 'pending' AND EXISTS (SELECT 1 FROM ${blocks}
        WHERE ${blocks.user_id} = ${me} AND ${blocks.blocked_user_id} = ${connection_requests.from_user_id}))`;

/** SQL: whom a notice about a number is for is blocked by the person whose number changed, and goes on seeing the old one. */
const isBlockedBySubject = sql`EXISTS (SELECT 1 FROM ${blocks} WHERE ${blocks.user_id} = ${number_notices.other_id}
  AND ${blocks.blocked_user_id} = ${number_notices.user_id})`;

/** Current request of a pair: the pending one, else the one that changed last. */
const latestRequest = sql<number>`max(CASE ${connection_requests.status} WHEN 'pending' THEN 9e15 ELSE ${connection_requests.updated_at} END)`;

const selectContactStates = (db: Db, me: Uuid, others: Uuid[]) => {
  const pairs = others.map((other) => privateConversationId(me, other));
  return [
    db.select(connectionColumns).from(connections).where(inArray(connections.conversation_id, pairs)),
    // SQLite takes bare columns from the row with the maximum (SQLite documentation, "Bare columns").
    db
      .select({
        id: connection_requests.id,
        conversation_id: connection_requests.conversation_id,
        from_user_id: connection_requests.from_user_id,
        status: connection_requests.status,
        created_at: connection_requests.created_at,
        updated_at: connection_requests.updated_at,
        latest: latestRequest,
      })
      .from(connection_requests)
      .where(and(inArray(connection_requests.conversation_id, pairs), not(isHiddenRequest(me))))
      .groupBy(connection_requests.conversation_id),
    db
      .select({ other: blocks.blocked_user_id })
      .from(blocks)
      .where(and(eq(blocks.user_id, me), inArray(blocks.blocked_user_id, others))),
    db
      .select({ other: number_notices.other_id, kind: number_notices.kind })
      .from(number_notices)
      .where(and(eq(number_notices.user_id, me), inArray(number_notices.other_id, others), not(isBlockedBySubject))),
  ] as const;
};

type ContactStates = Map<Uuid, ContactState>;

const toContactStates = (
  me: Uuid,
  links: ConnectionLink[],
  requests: {
    id: Uuid;
    conversation_id: string;
    from_user_id: Uuid;
    status: string;
    created_at: number;
    updated_at: number;
  }[],
  blocked: { other: Uuid }[],
  notices: { other: Uuid; kind: NumberNotice }[],
): ContactStates => {
  const states: ContactStates = new Map();
  const blockedByMe = new Set(blocked.map(({ other }) => other));
  for (const other of blockedByMe) states.set(other, { ...noContactState, blocked: true });
  for (const request of requests) {
    const other = otherMember(request.conversation_id, me);
    if (!other) continue;
    const isPending = request.status === "pending";
    const state = isPending ? (request.from_user_id === me ? "sent" : "received") : "none";
    const contactState: ContactState = {
      state,
      request_id: isPending ? request.id : null,
      connection_id: null,
      since: isPending ? request.created_at : request.updated_at,
      blocked: blockedByMe.has(other),
    };
    states.set(other, contactState);
  }
  for (const link of links) {
    const other = otherMember(link.conversation_id, me);
    if (!other) continue;
    const { request_id, id: connection_id, created_at: since } = link;
    const notice = notices.find((row) => row.other === other)?.kind;
    const contactState: ContactState = {
      state: "contact",
      request_id,
      connection_id,
      since,
      blocked: blockedByMe.has(other),
      ...(notice ? { number_notice: notice } : {}),
    };
    states.set(other, contactState);
  }
  return states;
};

/**
 * State between the reader and each of these people, at one bound parameter each. People without any relation are
 * omitted.
 */
const listContactStates = async (db: Db, me: Uuid, others: Uuid[]): Promise<ContactStates> => {
  if (others.length === 0) return new Map();
  return toContactStates(me, ...(await db.batch(selectContactStates(db, me, others))));
};

/** SQL: an invitation to a group that waits for the answer of this person, where neither side blocks the other. */
export const isReceivedInvitation = (me: Uuid, now = Date.now()) =>
  sql`(${group_invitations.to_user_id} = ${me} AND ${group_invitations.status} = 'pending'
    AND ${group_invitations.created_at} > ${now - groupInvitationDays * dayMs}
    AND NOT EXISTS (SELECT 1 FROM ${blocks}
      WHERE ${blocks.user_id} = ${me} AND ${blocks.blocked_user_id} = ${group_invitations.from_user_id})
    AND NOT EXISTS (SELECT 1 FROM ${blocks}
      WHERE ${blocks.user_id} = ${group_invitations.from_user_id} AND ${blocks.blocked_user_id} = ${me}))`;

/** Own relation with the number of received invitations to groups, and the time of the newest. */
const withInvitations = async (db: Db, me: Uuid, relations: Relation[]): Promise<Relation[]> => {
  if (!relations.some(({ profile }) => profile.id === me)) return relations;
  const newest = sql<number>`ifnull(max(${group_invitations.created_at}), 0)`;
  const [row] = await db
    .select({ count: count(), since: newest })
    .from(group_invitations)
    .where(isReceivedInvitation(me));
  if (!row || row.count === 0) return relations;
  const known = { group_invitations: Math.min(row.count, groupInvitationsListedMax), since: row.since };
  return relations.map((relation) => (relation.profile.id === me ? { ...relation, ...known } : relation));
};

/** Open invitations to groups of a person, for their notifications: when they were sent, and by whom. */
export const listInvitationNotices = (db: Db, me: Uuid): Promise<{ id: Uuid; at: number; sender: string }[]> =>
  db
    .select({ id: group_invitations.id, at: group_invitations.created_at, sender: profiles.username })
    .from(group_invitations)
    .innerJoin(profiles, eq(profiles.id, group_invitations.from_user_id))
    .where(isReceivedInvitation(me))
    .orderBy(desc(group_invitations.id))
    .limit(groupInvitationsListedMax);

/** Relations with their profiles. Deleted people are omitted. */
export const listRelations = async (db: Db, me: Uuid, others: Uuid[]): Promise<Relation[]> => {
  if (others.length === 0) return [];
  const [people, ...rest] = await db.batch([
    selectProfiles(db, me).where(inArray(profiles.id, others)),
    ...selectContactStates(db, me, others),
  ]);
  const contactStates = toContactStates(me, ...rest);
  const relations = people.map((person) => {
    const contactState = contactStates.get(person.id) ?? noContactState;
    return { profile: toVisibleProfile(me, person, { state: contactState.state, foundBy: "id" }), ...contactState };
  });
  return withInvitations(db, me, relations);
};

/** Profiles of people who share a group with the reader (`group`), or whom a group shows by their id alone (`id`). */
export const listMemberProfiles = async (
  db: Db,
  me: Uuid,
  people: ReadonlyMap<Uuid, "group" | "id">,
): Promise<Profile[]> => {
  const ids = [...people.keys()];
  if (ids.length === 0) return [];
  const [rows, ...rest] = await db.batch([
    selectProfiles(db, me).where(inArray(profiles.id, ids)),
    ...selectContactStates(db, me, ids),
  ]);
  const contactStates = toContactStates(me, ...rest);
  return rows.map((person) =>
    toVisibleProfile(me, person, {
      state: contactStates.get(person.id)?.state ?? "none",
      foundBy: people.get(person.id) ?? "id",
    }),
  );
};

/** Search results in their order. `findBy`: what a person with this number was found by. */
export const toFoundPeople = async (
  db: Db,
  me: Uuid,
  people: StoredProfile[],
  findBy: (phone: string) => ProfileAccess["foundBy"],
): Promise<FoundPerson[]> => {
  const contactStates = await listContactStates(
    db,
    me,
    people.map(({ id }) => id),
  );
  return people.map((person): FoundPerson => {
    const state = contactStates.get(person.id)?.state ?? "none";
    const { created_at: _, ...found } = toVisibleProfile(me, person, { state, foundBy: findBy(person.phone) });
    return { ...found, state };
  });
};

/** Relation between the reader and another person: the response to every change of it. */
export const findRelation = async (db: Db, me: Uuid, other: Uuid): Promise<Relation | undefined> =>
  (await listRelations(db, me, [other]))[0];
