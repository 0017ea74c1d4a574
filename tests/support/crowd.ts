import { readdirSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { createUuid, privateConversationId } from "../../contract/ids";
import { signAccessToken } from "../../worker/lib/access-token";
import { nameOf, type Person, phoneOf, testPassword } from "./people";
import type { Server } from "./server";

const firstNumber = 5_000; // apart from those who sign up

/** The directory's database, which every test state has from the start. */
const openDirectory = (state: string): DatabaseSync => {
  const files = readdirSync(state, { recursive: true, encoding: "utf8" });
  for (const file of files.filter((path) => /[\\/]d1[\\/].*\.sqlite$/.test(path))) {
    const database = new DatabaseSync(join(state, file));
    if (database.prepare("SELECT 1 FROM sqlite_master WHERE name = 'profiles'").get()) return database;
    database.close();
  }
  throw new Error("the state has no directory");
};

/**
 * So many people, signed in, of whom the first is everybody's contact: put straight into the directory while the
 * server is down, for their sign-ups would take longer than what is tested with them.
 */
export const seedCrowd = async (server: Server, count: number): Promise<[Person, ...Person[]]> => {
  const now = Date.now();
  const seeds = Array.from({ length: count }, (_, i) => {
    const number = firstNumber + i;
    return { id: createUuid(), session: createUuid(), phone: phoneOf(number), username: nameOf(number) };
  });
  await server.kill();
  const directory = openDirectory(server.state);
  try {
    const insert = (table: string, columns: string) =>
      directory.prepare(`INSERT INTO ${table} (${columns}) VALUES (${columns.replaceAll(/\w+/g, "?")})`);
    const user = insert("users", "id, phone, password_hash, created_at, updated_at");
    const profile = insert("profiles", "id, username, phone, created_at");
    const session = insert("sessions", "id, user_id, nonce, refreshed_at, created_at");
    const connection = insert("connections", "id, user1_id, user2_id, conversation_id, created_at");
    directory.exec("BEGIN");
    for (const one of seeds) {
      user.run(one.id, one.phone, "none", now, now);
      profile.run(one.id, one.username, one.phone, now);
      session.run(one.session, one.id, "none", now, now);
    }
    const [hub = "", ...others] = seeds.map(({ id }) => id);
    for (const other of others) connection.run(createUuid(), hub, other, privateConversationId(hub, other), now);
    directory.exec("COMMIT");
  } finally {
    directory.close();
  }
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
