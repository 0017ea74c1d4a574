import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { expect, test } from "vitest";
import { createUuid } from "#contract/ids.ts";
import { applyMigrations, readSchemaVersion } from "#worker/objects/shared/migrations.ts";

const first = "CREATE TABLE notes (id INTEGER PRIMARY KEY)";
const second = "ALTER TABLE notes ADD COLUMN text TEXT NOT NULL DEFAULT 'none'";

const inEmptyObject = (check: (storage: DurableObjectStorage) => void) =>
  runInDurableObject(env.CONVERSATION.getByName(createUuid()), (_, { storage }) => check(storage));

test("an object without tables has version 0 and gets all migrations", () =>
  inEmptyObject((storage) => {
    expect(readSchemaVersion(storage)).toBe(0);
    applyMigrations(storage, [first, second]);
    expect(readSchemaVersion(storage)).toBe(2);
  }));

test("an object of an older version keeps its rows and gets the missing migrations once", () =>
  inEmptyObject((storage) => {
    applyMigrations(storage, [first]);
    storage.sql.exec("INSERT INTO notes VALUES (7)");
    applyMigrations(storage, [first, second]);
    applyMigrations(storage, [first, second]);
    expect(storage.sql.exec("SELECT * FROM notes").toArray()).toEqual([{ id: 7, text: "none" }]);
    expect(readSchemaVersion(storage)).toBe(2);
  }));

test("migrations that fail half-way change nothing", () =>
  inEmptyObject((storage) => {
    applyMigrations(storage, [first]);
    expect(() => applyMigrations(storage, [first, second, "no SQL"])).toThrow();
    expect(readSchemaVersion(storage)).toBe(1);
    expect(storage.sql.exec("SELECT * FROM pragma_table_info('notes')").toArray()).toHaveLength(1);
  }));
