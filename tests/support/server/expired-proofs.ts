import { findDatabase, hasTable } from "./databases.ts";
import type { Server } from "./server.ts";

/**
 * Makes the last proof of a factor older than five minutes for every session: no session may change how its person
 * signs in.
 */
export const expireProofs = async (server: Server): Promise<void> => {
  await server.kill();
  const isDone = findDatabase(server.state, "d1", (database) => {
    if (!hasTable(database, "sessions")) return false;
    database.exec("UPDATE sessions SET proved_at = 0");
    return true;
  });
  if (!isDone) throw new Error("no sessions were found in the server's state");
  await server.restart();
};
