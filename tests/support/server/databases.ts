import { readdirSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";

/** Visits the databases of a stopped server, D1's or those of its objects, until `look` returns true. */
export const findDatabase = (state: string, of: "d1" | "do", look: (database: DatabaseSync) => boolean): boolean => {
  const files = readdirSync(state, { recursive: true, encoding: "utf8" });
  const isOfIt = (path: string) => path.endsWith(".sqlite") && path.split(/[\\/]/).includes(of);
  return files.filter(isOfIt).some((file) => {
    const database = new DatabaseSync(join(state, file));
    try {
      return look(database);
    } finally {
      database.close();
    }
  });
};

export const hasTable = (database: DatabaseSync, name: string): boolean =>
  database.prepare("SELECT 1 FROM sqlite_master WHERE name = ?").get(name) !== undefined;
