import { env } from "cloudflare:workers";
import { type ConversationId, createUuid, privateConversationId, type Uuid } from "#contract/ids.ts";
import { countedContactsMax } from "#contract/settings/trust-tiers.ts";
import { nameOf, type Person, phoneOf, testPassword } from "#tests/support/people/people.ts";
import { openDb } from "#worker/db/client.ts";
import { connections } from "#worker/db/relation-schema.ts";
import { profiles, sessions, users } from "#worker/db/schema.ts";
import { signAccessToken } from "#worker/lib/http/access-token.ts";
import { getConversationStub } from "#worker/objects/stubs.ts";
import { readRow, waitUntil } from "./device.ts";
import { takePersonNumber } from "./person-numbers.ts";

/** Inserts a signed-in person directly into the directory, for tests that need many people. */
export const seedPerson = async (): Promise<Person & { session: string }> => {
  const number = takePersonNumber();
  const [id, session, phone, now] = [createUuid(), createUuid(), phoneOf(number), Date.now()];
  const db = openDb(env);
  await db.batch([
    db.insert(users).values({ id, phone, password_hash: "none", created_at: now, updated_at: now }),
    db.insert(profiles).values({ id, username: nameOf(number), phone, created_at: now }),
    db
      .insert(sessions)
      .values({ id: session, user_id: id, nonce: "none", refreshed_at: now, proved_at: now, created_at: now }),
  ]);
  const token = await signAccessToken(env, { sub: id, sid: session, gen: 0 });
  return { id, phone, password: testPassword, username: nameOf(number), token, refreshToken: "", session };
};

export type Pair = {
  ana: Awaited<ReturnType<typeof seedPerson>>;
  ben: Awaited<ReturnType<typeof seedPerson>>;
  id: ConversationId;
};

/** Connects two people. Their conversation is open, and they are notified soon. */
export const connect = async (one: Person, other: Person): Promise<ConversationId> => {
  const [id, connection] = [privateConversationId(one.id, other.id), createUuid()];
  await openDb(env)
    .insert(connections)
    .values({ id: connection, user1_id: one.id, user2_id: other.id, conversation_id: id, created_at: Date.now() });
  await getConversationStub(env, id).openConnection(connection);
  return id;
};

/** Connects two people and waits until both were notified, so that later devices receive no news of it. */
export const befriend = async (one: Person, other: Person): Promise<ConversationId> => {
  const id = await connect(one, other);
  for (const person of [one, other]) await waitUntil(async () => (await readRow(person, id)).open);
  return id;
};

type SeededProfile = { id: Uuid; phone: string; name: string };

const makeProfiles = (count: number): SeededProfile[] =>
  Array.from({ length: count }, () => {
    const number = takePersonNumber();
    return { id: createUuid(), phone: phoneOf(number), name: nameOf(number) };
  });

const insertProfiles = (people: readonly SeededProfile[], now: number): D1PreparedStatement[] =>
  [
    "INSERT INTO users SELECT value->>'id', value->>'phone', 'none', ?2, ?2 FROM json_each(?1)",
    `INSERT INTO profiles (id, username, phone, created_at)
     SELECT value->>'id', value->>'name', value->>'phone', ?2 FROM json_each(?1)`,
  ].map((insert) => env.DB.prepare(insert).bind(JSON.stringify(people), now));

/** Inserts people into the directory who have no session, for tests that need very many. */
export const seedProfiles = async (count: number): Promise<Uuid[]> => {
  const people = makeProfiles(count);
  await env.DB.batch(insertProfiles(people, Date.now()));
  return people.map(({ id }) => id);
};

/** Inserts contacts of a person into the directory only: they have no session, and no conversation knows them. */
export const seedContacts = async (of: Person, count: number): Promise<Uuid[]> => {
  const now = Date.now();
  const people = makeProfiles(count).map((one) => ({ ...one, pair: privateConversationId(of.id, one.id) }));
  await env.DB.batch([
    ...insertProfiles(people, now),
    env.DB.prepare(
      `INSERT INTO connections (id, user1_id, user2_id, conversation_id, created_at)
       SELECT value->>'id', ?2, value->>'id', value->>'pair', ?3 FROM json_each(?1)`,
    ).bind(JSON.stringify(people), of.id, now),
  ]);
  return people.map(({ id }) => id);
};

/** Gives a person the age and the contacts of the highest trust tier (contract/settings/trust-tiers.ts). */
export const makeTrusted = async (person: Person): Promise<void> => {
  const ids = JSON.stringify([person.id, ...(await seedContacts(person, countedContactsMax))]);
  const ageMs = 15 * 24 * 3_600_000;
  await env.DB.batch(
    ["users", "profiles"].map((table) =>
      env.DB.prepare(
        `UPDATE ${table} SET created_at = created_at - ${ageMs} WHERE id IN (SELECT value FROM json_each(?))`,
      ).bind(ids),
    ),
  );
};

/** Makes two new connected people. */
export const makePair = async (): Promise<Pair> => {
  const [ana, ben] = [await seedPerson(), await seedPerson()];
  return { ana, ben, id: await befriend(ana, ben) };
};
