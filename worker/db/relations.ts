import { and, eq, inArray, not, sql } from "drizzle-orm";
import { type ConversationId, otherMember, privateConversationId, type Uuid } from "../../contract/ids";
import type { Profile, Relation } from "../../contract/people";
import { defaultSettings, type FindableBy } from "../../contract/settings";
import { can, type Meeting } from "../lib/access";
import type { Db } from "./client";
import { blocks, connection_requests, connections, profiles, settings } from "./schema";

/** How people stand to each other, read from the directory. */

/** A profile with its number, which not everybody is told, and what its person lets themselves be found by. */
type Read = Profile & { findable: FindableBy };

/** Profiles as somebody may see them but for the number: who blocks them shows the picture of when that began. */
export const selectProfiles = (db: Db, viewer: Uuid) =>
  db
    .select({
      id: profiles.id,
      username: profiles.username,
      phone: profiles.phone,
      avatar_url: sql<
        string | null
      >`CASE WHEN ${blocks.user_id} IS NULL THEN ${profiles.avatar_url} ELSE ${blocks.avatar_url} END`,
      created_at: profiles.created_at,
      findable: sql<FindableBy>`ifnull(${settings.findable}, ${defaultSettings.findable})`,
    })
    .from(profiles)
    .leftJoin(blocks, and(eq(blocks.user_id, profiles.id), eq(blocks.blocked_user_id, viewer)))
    .leftJoin(settings, eq(settings.user_id, profiles.id));

const unmet: Meeting = { state: "none", haveMet: false };

/** What leaves the Worker of a profile: without the number, unless it may be told. */
const toProfile = (me: Uuid, { findable, ...profile }: Read, meeting: Meeting = unmet): Profile =>
  can.readPhone(me, { id: profile.id, findable, ...meeting }) ? profile : { ...profile, phone: "" };

/** The profiles of people of whom it is known already how they stand to me. */
export const listProfiles = async (db: Db, me: Uuid, people: ReadonlyMap<Uuid, Meeting>): Promise<Profile[]> => {
  if (people.size === 0) return [];
  const read = await selectProfiles(db, me).where(inArray(profiles.id, [...people.keys()]));
  return read.map((profile) => toProfile(me, profile, people.get(profile.id)));
};

export const findOwnProfile = async (db: Db, me: Uuid): Promise<Profile | undefined> =>
  (await listProfiles(db, me, new Map([[me, unmet]])))[0];

type Connection = { id: Uuid; conversation_id: ConversationId; request_id: Uuid | null; created_at: number };
const connectionColumns = {
  id: connections.id,
  conversation_id: connections.conversation_id,
  request_id: connections.request_id,
  created_at: connections.created_at,
};

/** The link between two people, whichever of them is named first. */
export const findConnection = (db: Db, a: Uuid, b: Uuid): Promise<Connection | undefined> =>
  db
    .select(connectionColumns)
    .from(connections)
    .where(eq(connections.conversation_id, privateConversationId(a, b)))
    .get();

type Standing = Omit<Relation, "profile">;
const strangers: Standing = { state: "none", request_id: null, connection_id: null, since: 0, blocked: false };

/** What waits unseen: a request of somebody whom the person it was sent to blocks. */
export const waitsUnseen = (me: Uuid) =>
  sql`(${connection_requests.status} = 'pending' AND EXISTS (SELECT 1 FROM ${blocks}
        WHERE ${blocks.user_id} = ${me} AND ${blocks.blocked_user_id} = ${connection_requests.from_user_id}))`;

/** Of a pair's requests the one that counts: the pending one, else the one that changed last. */
const latestRequest = sql<number>`max(CASE ${connection_requests.status} WHEN 'pending' THEN 9e15 ELSE ${connection_requests.updated_at} END)`;

const standingsQueries = (db: Db, me: Uuid, others: Uuid[]) => {
  const pairs = others.map((other) => privateConversationId(me, other));
  return [
    db.select(connectionColumns).from(connections).where(inArray(connections.conversation_id, pairs)),
    // SQLite takes the bare columns from the row that holds the maximum (its documentation, "Bare columns").
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
      .where(and(inArray(connection_requests.conversation_id, pairs), not(waitsUnseen(me))))
      .groupBy(connection_requests.conversation_id),
    db
      .select({ other: blocks.blocked_user_id })
      .from(blocks)
      .where(and(eq(blocks.user_id, me), inArray(blocks.blocked_user_id, others))),
  ] as const;
};

type Found = { standing: Standing; haveAsked: boolean };
type Standings = Map<Uuid, Found>;

const toMeeting = ({ standing, haveAsked }: Found): Meeting => ({ state: standing.state, haveMet: haveAsked });

const toStandings = (
  me: Uuid,
  links: Connection[],
  requests: {
    id: Uuid;
    conversation_id: string;
    from_user_id: Uuid;
    status: string;
    created_at: number;
    updated_at: number;
  }[],
  blocked: { other: Uuid }[],
): Standings => {
  const found: Standings = new Map();
  const blockedByMe = new Set(blocked.map(({ other }) => other));
  for (const other of blockedByMe) found.set(other, { standing: { ...strangers, blocked: true }, haveAsked: false });
  for (const request of requests) {
    const other = otherMember(request.conversation_id, me);
    if (!other) continue;
    const isPending = request.status === "pending";
    const state = isPending ? (request.from_user_id === me ? "sent" : "received") : "none";
    const standing: Standing = {
      state,
      request_id: isPending ? request.id : null,
      connection_id: null,
      since: isPending ? request.created_at : request.updated_at,
      blocked: blockedByMe.has(other),
    };
    found.set(other, { standing, haveAsked: true });
  }
  for (const link of links) {
    const other = otherMember(link.conversation_id, me);
    if (!other) continue;
    const { request_id, id: connection_id, created_at: since } = link;
    const standing: Standing = { state: "contact", request_id, connection_id, since, blocked: blockedByMe.has(other) };
    found.set(other, { standing, haveAsked: true });
  }
  return found;
};

/** How each of these people stands to me, at one bound parameter each. Who is left out has nothing to do with me. */
export const listStandings = async (db: Db, me: Uuid, others: Uuid[]): Promise<Standings> => {
  if (others.length === 0) return new Map();
  return toStandings(me, ...(await db.batch(standingsQueries(db, me, others))));
};

/** The same with their profiles. People who do not exist (any more) are left out. */
export const listRelations = async (db: Db, me: Uuid, others: Uuid[]): Promise<Relation[]> => {
  if (others.length === 0) return [];
  const [people, ...rest] = await db.batch([
    selectProfiles(db, me).where(inArray(profiles.id, others)),
    ...standingsQueries(db, me, others),
  ]);
  const standings = toStandings(me, ...rest);
  return people.map((person) => {
    const found = standings.get(person.id);
    return { profile: toProfile(me, person, found && toMeeting(found)), ...(found?.standing ?? strangers) };
  });
};

/** The profiles of people who are in one group with me. How they stand to me is asked only where it decides. */
export const listMembers = async (db: Db, me: Uuid, ids: Uuid[]): Promise<Profile[]> => {
  if (ids.length === 0) return [];
  const people = await selectProfiles(db, me).where(inArray(profiles.id, ids));
  const hidden = people.filter(({ findable }) => findable !== "part").map(({ id }) => id);
  const standings = await listStandings(db, me, hidden);
  return people.map((person) => {
    const state = standings.get(person.id)?.standing.state ?? "none";
    return toProfile(me, person, { state, haveMet: true });
  });
};

export type Encounter = { profile: Profile; standing: Standing; haveAsked: boolean };

/** A person, how they stand to me, and whether there ever was a request between us that I know of. */
export const findEncounter = async (db: Db, me: Uuid, other: Uuid): Promise<Encounter | undefined> => {
  const [[person], ...rest] = await db.batch([
    selectProfiles(db, me).where(eq(profiles.id, other)),
    ...standingsQueries(db, me, [other]),
  ]);
  if (!person) return undefined;
  const found = toStandings(me, ...rest).get(other) ?? { standing: strangers, haveAsked: false };
  return { profile: toProfile(me, person, toMeeting(found)), ...found };
};

/** The same as a relation: what every change of a standing answers. */
export const relationTo = async (db: Db, me: Uuid, other: Uuid): Promise<Relation | undefined> => {
  const found = await findEncounter(db, me, other);
  return found && { profile: found.profile, ...found.standing };
};
