/** Key-value table of a UserChannel, loaded into memory when the object starts. */
export class KeyValues {
  readonly #sql: SqlStorage;
  readonly #values: Map<string, string>;

  constructor(sql: SqlStorage) {
    this.#sql = sql;
    const rows = sql.exec<{ key: string; value: string }>("SELECT key, value FROM meta").toArray();
    this.#values = new Map(rows.map(({ key, value }) => [key, value]));
  }

  get(key: string): string | undefined {
    return this.#values.get(key);
  }

  set(key: string, value: string): void {
    this.#sql.exec("INSERT OR REPLACE INTO meta (key, value) VALUES (?, ?)", key, value);
    this.#values.set(key, value);
  }

  delete(key: string): void {
    this.#sql.exec("DELETE FROM meta WHERE key = ?", key);
    this.#values.delete(key);
  }
}
