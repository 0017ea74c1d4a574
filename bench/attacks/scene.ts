import type { DatabaseSync } from "node:sqlite";
import { callAs, type Person } from "#bench/rig/person.ts";
import { seedLogSql } from "#bench/rows/log-seed.ts";
import { type ConversationId, createUuid, privateConversationId } from "#contract/ids.ts";
import { sendAttachment } from "#tests/support/people/attachments.ts";
import { type Person as Account, connectPeople } from "#tests/support/people/people.ts";
import { findDatabase, hasTable } from "#tests/support/server/databases.ts";
import { seedUsers } from "#tests/support/server/seeded-users.ts";
import type { Server } from "#tests/support/server/server.ts";
import { signAccessToken } from "#worker/lib/http/access-token.ts";
import { seedSharedNumbers } from "./shared-numbers.ts";
import type { AttackNeeds, Stage } from "./stage.ts";

/** Prepared attack with its own account and address, so that no attack uses up the limits of another. */
export type Prepared = { stage: Omit<Stage, "origin" | "seconds">; needs: AttackNeeds };
export type AttackScene = { bystanders: Account[]; attacks: Prepared[] };

const bystanders = 8;
const fileBytes = 4_096;

/** New access token for a person's session. */
export async function renewToken(server: Server, { id, token }: Account): Promise<string> {
  const claims = JSON.parse(Buffer.from(token.split(".")[1] ?? "", "base64url").toString()) as { sid: string };
  return signAccessToken(server.secrets, { sub: id, sid: claims.sid, gen: 0 });
}

function seedLogInto(database: DatabaseSync, conversation: ConversationId, count: number): boolean {
  if (!hasTable(database, "conversation")) return false;
  if (!database.prepare("SELECT 1 FROM conversation WHERE id = ?").get(conversation)) return false;
  // The log of a new group is not empty; the seeded one replaces it, unread by everybody.
  database.exec(
    `BEGIN; DELETE FROM messages; ${seedLogSql(count)}; UPDATE members SET delivered = 0, read = 0; COMMIT`,
  );
  return true;
}

/** Creates people, contacts, groups, logs and files on a freshly started server. */
export async function makeScene(
  server: Server,
  wanted: readonly ({ name: string } & AttackNeeds)[],
): Promise<AttackScene> {
  const site = { origin: server.origin, fetch };
  const [hub, ...crowd] = await seedUsers(server, 1 + bystanders + 2 * wanted.length);
  const watching = crowd.slice(0, bystanders);
  for (let i = 0; i < bystanders; i += 2) await connectPeople(site, watching[i] as Account, watching[i + 1] as Account);
  const attacks: Prepared[] = [];
  for (const [i, { name, ...needs }] of wanted.entries()) {
    const [attacker, accomplice] = crowd.slice(bystanders + 2 * i) as [Account, Account];
    await connectPeople(site, attacker, accomplice);
    const own = privateConversationId(attacker.id, accomplice.id);
    let shared: ConversationId = own;
    if (needs.isShared) {
      shared = createUuid();
      const members = [attacker, ...watching].map(({ id }) => id);
      await callAs(inSite(hub), "POST", "/api/groups", { id: shared, name, members });
    }
    const file = needs.hasFile
      ? (await sendAttachment(site, attacker, own, Buffer.alloc(fileBytes), { type: "file", name: "a.bin" })).file
      : undefined;
    const { id, token, phone } = attacker;
    const address = `10.2.${i >> 8}.${i & 255}`;
    const claimedPhones = Array.from({ length: needs.claimedNumbers ?? 0 }, (_, n) => toSharedPhone(i, n));
    const people = { attacker: { id, token, phone }, accomplice: accomplice.id };
    const stage = { attack: name, address, ...people, own, shared, claimedPhones };
    attacks.push({ stage: { ...stage, ...(file && { file }) }, needs });
  }
  await seedDatabases(server, attacks);
  return { bystanders: watching, attacks };

  function inSite(person: Account): Person {
    return { ...person, origin: server.origin };
  }
}

const toSharedPhone = (attack: number, n: number): string =>
  `+2438299${String(attack).padStart(2, "0")}${String(n).padStart(3, "0")}`;

/** Inserts long logs and shared numbers directly into the databases while the server is down. */
async function seedDatabases(server: Server, attacks: readonly Prepared[]): Promise<void> {
  await server.kill();
  const phones = attacks.flatMap(({ stage }) => stage.claimedPhones);
  if (!findDatabase(server.state, "d1", (database) => seedSharedNumbers(database, phones)))
    throw new Error("no directory");
  for (const { stage, needs } of attacks) {
    if (!needs.messages) continue;
    const { messages } = needs;
    if (!findDatabase(server.state, "do", (database) => seedLogInto(database, stage.shared, messages)))
      throw new Error(`No log of ${stage.shared}`);
  }
  await server.restart();
}
