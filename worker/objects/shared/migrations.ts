const versionTable = "schema_version";

/** Number of applied migrations, 0 for an object without tables, which was only queried so far. */
export const readSchemaVersion = ({ sql }: DurableObjectStorage): number => {
  try {
    return sql.exec<{ version: number }>(`SELECT version FROM ${versionTable}`).one().version;
  } catch (error) {
    // Querying the table is cheaper than looking it up in the schema, which reads all of it.
    if (error instanceof Error && error.message.includes("no such table")) return 0;
    throw error;
  }
};

/** Applies the missing migrations to an object's tables in one transaction. */
export const applyMigrations = (
  storage: DurableObjectStorage,
  migrations: readonly string[],
  version = readSchemaVersion(storage),
): void => {
  if (version === migrations.length) return;
  storage.transactionSync(() => {
    const { sql } = storage;
    for (const migration of migrations.slice(version)) sql.exec(migration);
    sql.exec(`CREATE TABLE IF NOT EXISTS ${versionTable} (id INTEGER PRIMARY KEY, version INTEGER NOT NULL)`);
    sql.exec(`INSERT OR REPLACE INTO ${versionTable} (id, version) VALUES (1, ?)`, migrations.length);
  });
};
