const versionTable = "schema_version";

/** Whether this object has ever had tables: one that was only asked has none and leaves nothing behind. */
export const hasTables = (storage: DurableObjectStorage): boolean =>
  storage.sql.exec("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?", versionTable).toArray().length > 0;

/** Brings an object's own tables up to the last of `migrations`, each applied once and whole. */
export const migrate = (storage: DurableObjectStorage, migrations: readonly string[]): void => {
  const { sql } = storage;
  const [row] = hasTables(storage) ? sql.exec(`SELECT version FROM ${versionTable}`).toArray() : [];
  const version = Number(row?.["version"] ?? 0);
  if (version === migrations.length) return;
  storage.transactionSync(() => {
    for (const migration of migrations.slice(version)) sql.exec(migration);
    sql.exec(`CREATE TABLE IF NOT EXISTS ${versionTable} (id INTEGER PRIMARY KEY, version INTEGER NOT NULL)`);
    sql.exec(`INSERT OR REPLACE INTO ${versionTable} (id, version) VALUES (1, ?)`, migrations.length);
  });
};
