import { readdirSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { type ConversationId, createUuid } from "../contract/ids";
import type { Server } from "../tests/support/server";
import { call, type Pair } from "./person";
import { seedLogSql } from "./rows/log-seed";

/** The newest message of every seeded chat. */
export const newestText = "Sango ya sika, nakomi na ndako";

/** The objects' databases under a server's state. */
function listDatabases(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((path) => /[\\/]do[\\/].*\.sqlite$/.test(path))
    .map((path) => join(folder, path));
}

/** Writes into the database of one conversation's object; answers whether this was it. */
function seed(file: string, conversation: ConversationId, count: number): boolean {
  const database = new DatabaseSync(file);
  try {
    const isLog = database.prepare("SELECT 1 FROM sqlite_master WHERE name = 'conversation'").get() !== undefined;
    if (!isLog || !database.prepare("SELECT 1 FROM conversation WHERE id = ?").get(conversation)) return false;
    database.exec(`BEGIN; ${seedLogSql(count)}; COMMIT`);
    return true;
  } finally {
    database.close();
  }
}

/**
 * Gives chats that have no message yet long histories, straight into their objects' databases while the server is
 * down, and one message more through the product, by which every inbox hears of them.
 */
export async function seedChats(server: Server, chats: readonly (readonly [Pair, count: number])[]): Promise<void> {
  await server.kill();
  const databases = listDatabases(server.state);
  for (const [{ conversation }, count] of chats) {
    if (!databases.some((file) => seed(file, conversation, count))) throw new Error(`No log of ${conversation}`);
  }
  await server.restart();
  for (const [{ b, conversation }] of chats) {
    const messages = [{ cid: createUuid(), body: { type: "text", text: newestText } }];
    await call(b, "POST", `/api/conversations/${conversation}/messages`, { messages });
  }
}
