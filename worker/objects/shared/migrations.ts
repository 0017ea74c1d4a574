const versionTable = "schema_version";

/** How many of its migrations an object has: 0 for one that was only ever asked, which has no tables at all. */
export const readSchemaVersion = ({ sql }: DurableObjectStorage): number => {
  try {
    return sql.exec<{ version: number }>(`SELECT version FROM ${versionTable}`).one().version;
  } catch (error) {
    // The question itself is the cheapest way to find out: looking into the schema reads all of it.
    if (error instanceof Error && error.message.includes("no such table")) return 0;
    throw error;
  }
};

/** Brings an object's own tables up to the last of `migrations`, each applied once and whole. */
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
