import type { DatabaseSync } from "node:sqlite";
import { createUuid, privateConversationId, type Uuid } from "#contract/ids.ts";
import { nameOf, type Person, phoneOf, testPassword } from "#tests/support/people/people.ts";
import { signAccessToken } from "#worker/lib/http/access-token.ts";
import { findDatabase, hasTable } from "./databases.ts";
import type { Server } from "./server.ts";

const firstNumber = 5_000; // apart from the numbers of people who sign up

type Seed = Pick<Person, "id" | "phone" | "username"> & { session: Uuid };

/**
 * Inserts people into the directory, with the first as everybody's contact. `queuesContacts` also queues these contacts for the
 * first one's devices. Returns false for any other database.
 */
const insertUsers = (directory: DatabaseSync, seeds: readonly Seed[], queuesContacts: boolean): boolean => {
  if (!hasTable(directory, "profiles")) return false;
  const now = Date.now();
  const insert = (table: string, columns: string) =>
    directory.prepare(`INSERT INTO ${table} (${columns}) VALUES (${columns.replaceAll(/\w+/g, "?")})`);
  const user = insert("users", "id, phone, password_hash, created_at, updated_at");
  const profile = insert("profiles", "id, username, phone, created_at");
  const session = insert("sessions", "id, user_id, nonce, refreshed_at, created_at");
  const connection = insert("connections", "id, user1_id, user2_id, conversation_id, created_at");
  const untold = insert("pending_relations", "user_id, other_id, version");
  directory.exec("BEGIN");
  for (const one of seeds) {
    user.run(one.id, one.phone, "none", now, now);
    profile.run(one.id, one.username, one.phone, now);
    session.run(one.session, one.id, "none", now, now);
  }
  const [hub = "", ...others] = seeds.map(({ id }) => id);
  for (const other of others) connection.run(createUuid(), hub, other, privateConversationId(hub, other), now);
  if (queuesContacts) for (const other of others) untold.run(hub, other, 1);
  directory.exec("COMMIT");
  return true;
};

/**
 * Seeds signed-in people directly into the directory while the server is down, because their sign-ups would take longer
 * than the test. The first is everybody's contact. `queuesContacts`: the first one's devices receive all contacts.
 */
export const seedUsers = async (
  server: Server,
  count: number,
  queuesContacts = false,
): Promise<[Person, ...Person[]]> => {
  const seeds = Array.from({ length: count }, (_, i): Seed => {
    const number = firstNumber + i;
    return { id: createUuid(), session: createUuid(), phone: phoneOf(number), username: nameOf(number) };
  });
  await server.kill();
  if (!findDatabase(server.state, "d1", (database) => insertUsers(database, seeds, queuesContacts)))
    throw new Error("no directory");
  await server.restart();
  const people = await Promise.all(
    seeds.map(async ({ session, ...seed }): Promise<Person> => {
      const token = await signAccessToken(server.secrets, { sub: seed.id, sid: session, gen: 0 });
      return { ...seed, password: testPassword, token, refreshToken: "" };
    }),
  );
  const [first, ...rest] = people;
  if (!first) throw new Error("a crowd of nobody");
  return [first, ...rest];
};
