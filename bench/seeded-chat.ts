import type { DatabaseSync } from "node:sqlite";
import { type ConversationId, createUuid } from "../contract/ids";
import { hasTable, lookInto } from "../tests/support/databases";
import type { Server } from "../tests/support/server";
import { call, type Pair } from "./person";
import { seedLogSql } from "./rows/log-seed";

/** The newest message of every seeded chat. */
export const newestText = "Sango ya sika, nakomi na ndako";

/** Writes into the database of one conversation's object; answers whether this was it. */
function seed(database: DatabaseSync, conversation: ConversationId, count: number): boolean {
  if (!hasTable(database, "conversation")) return false;
  if (!database.prepare("SELECT 1 FROM conversation WHERE id = ?").get(conversation)) return false;
  database.exec(`BEGIN; ${seedLogSql(count)}; COMMIT`);
  return true;
}

/**
 * Gives chats that have no message yet long histories, straight into their objects' databases while the server is
 * down, and one message more through the product, by which every inbox hears of them.
 */
export async function seedChats(server: Server, chats: readonly (readonly [Pair, count: number])[]): Promise<void> {
  await server.kill();
  for (const [{ conversation }, count] of chats) {
    const isSeeded = lookInto(server.state, "do", (database) => seed(database, conversation, count));
    if (!isSeeded) throw new Error(`No log of ${conversation}`);
  }
  await server.restart();
  for (const [{ b, conversation }] of chats) {
    const messages = [{ cid: createUuid(), body: { type: "text", text: newestText } }];
    await call(b, "POST", `/api/conversations/${conversation}/messages`, { messages });
  }
}
