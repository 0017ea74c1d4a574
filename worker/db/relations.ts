import { eq, inArray, sql } from "drizzle-orm";
import { type ConversationId, otherMember, privateConversationId, type Uuid } from "../../contract/ids";
import type { Profile, Relation } from "../../contract/people";
import type { Db } from "./client";
import { connection_requests, connections, profiles } from "./schema";

/** How people stand to each other, read from the directory. */

const profileColumns = {
  id: profiles.id,
  username: profiles.username,
  phone: profiles.phone,
  avatar_url: profiles.avatar_url,
  created_at: profiles.created_at,
};

export const toProfile = (row: Profile): Profile => ({
  id: row.id,
  username: row.username,
  phone: row.phone,
  avatar_url: row.avatar_url,
  created_at: row.created_at,
});

export const listProfiles = (db: Db, ids: Uuid[]): Promise<Profile[]> =>
  db.select(profileColumns).from(profiles).where(inArray(profiles.id, ids)).all();

export const findProfile = async (db: Db, id: Uuid): Promise<Profile | undefined> => (await listProfiles(db, [id]))[0];

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

/** Of a pair's requests the one that counts: the pending one, else the one that changed last. */
const latestRequest = sql<number>`max(CASE ${connection_requests.status} WHEN 'pending' THEN 9e15 ELSE ${connection_requests.updated_at} END)`;

const standingsQueries = (db: Db, pairs: ConversationId[]) =>
  [
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
      .where(inArray(connection_requests.conversation_id, pairs))
      .groupBy(connection_requests.conversation_id),
  ] as const;

type Found = { standing: Standing; haveAsked: boolean };
type Standings = Map<Uuid, Found>;

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
): Standings => {
  const found: Standings = new Map();
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
      blocked: false,
    };
    found.set(other, { standing, haveAsked: true });
  }
  for (const link of links) {
    const other = otherMember(link.conversation_id, me);
    if (!other) continue;
    const { request_id, id: connection_id, created_at: since } = link;
    found.set(other, {
      standing: { state: "contact", request_id, connection_id, since, blocked: false },
      haveAsked: true,
    });
  }
  return found;
};

/** How each of these people stands to me, at one bound parameter each. Who is left out has nothing to do with me. */
export const listStandings = async (db: Db, me: Uuid, others: Uuid[]): Promise<Standings> => {
  if (others.length === 0) return new Map();
  const [links, requests] = await db.batch(
    standingsQueries(
      db,
      others.map((other) => privateConversationId(me, other)),
    ),
  );
  return toStandings(me, links, requests);
};

/** The same with their profiles. People who do not exist (any more) are left out. */
export const listRelations = async (db: Db, me: Uuid, others: Uuid[]): Promise<Relation[]> => {
  if (others.length === 0) return [];
  const [people, links, requests] = await db.batch([
    db.select(profileColumns).from(profiles).where(inArray(profiles.id, others)),
    ...standingsQueries(
      db,
      others.map((other) => privateConversationId(me, other)),
    ),
  ]);
  const standings = toStandings(me, links, requests);
  return people.map((profile) => ({ profile, ...(standings.get(profile.id)?.standing ?? strangers) }));
};

export type Encounter = { profile: Profile; standing: Standing; haveAsked: boolean };

/** A person, how they stand to me, and whether there ever was a request between us. */
export const findEncounter = async (db: Db, me: Uuid, other: Uuid): Promise<Encounter | undefined> => {
  const [[profile], links, requests] = await db.batch([
    db.select(profileColumns).from(profiles).where(eq(profiles.id, other)),
    ...standingsQueries(db, [privateConversationId(me, other)]),
  ]);
  if (!profile) return undefined;
  return { profile, ...(toStandings(me, links, requests).get(other) ?? { standing: strangers, haveAsked: false }) };
};
