import { randomBytes } from "node:crypto";
import type { DatabaseSync } from "node:sqlite";
import { createUuid } from "#contract/ids.ts";
import { scryptParameters } from "#contract/limits/authentication.ts";
import { hasTable } from "#tests/support/server/databases.ts";
import { createAbsentNumber } from "#worker/lib/absent-number.ts";
import { claimsPerNumber } from "./stage.ts";

const toBase64 = (bytes: Buffer): string => bytes.toString("base64").replaceAll("=", "");

/** Hash of the product's cost that no password matches. */
const createPasswordHash = (): string => {
  const { N, r, p, keyLength } = scryptParameters;
  return `$scrypt$ln=${Math.log2(N)},r=${r},p=${p}$${toBase64(randomBytes(16))}$${toBase64(randomBytes(keyLength))}`;
};

/**
 * Inserts the accounts of these numbers into a directory: each is held by one and claimed by others. Returns false for
 * any other database.
 */
export function seedSharedNumbers(directory: DatabaseSync, phones: readonly string[]): boolean {
  if (!hasTable(directory, "number_claims")) return false;
  const now = Date.now();
  const insert = (table: string, columns: string) =>
    directory.prepare(`INSERT INTO ${table} (${columns}) VALUES (${columns.replaceAll(/\w+/g, "?")})`);
  const user = insert("users", "id, phone, password_hash, created_at, updated_at");
  const profile = insert("profiles", "id, username, phone, created_at");
  const claim = insert("number_claims", "user_id, phone, created_at");
  directory.exec("BEGIN");
  for (const phone of phones) {
    for (let n = 0; n <= claimsPerNumber; n++) {
      const id = createUuid();
      const held = n === 0 ? phone : createAbsentNumber(id);
      user.run(id, held, createPasswordHash(), now, now);
      profile.run(id, "Personne", held, now);
      claim.run(id, phone, now + n);
    }
  }
  directory.exec("COMMIT");
  return true;
}
