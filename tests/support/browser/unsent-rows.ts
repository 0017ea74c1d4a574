import type { Page } from "@playwright/test";
import { type UnsentTable, unsentKeys } from "#lib/unsent/unsent-database.ts";

/** Rows of a table of the unsent database of the only person of this browser. */
export const readUnsentRows = (page: Page, table: UnsentTable): Promise<Record<string, unknown>[]> =>
  page.evaluate(async (table) => {
    const name = (await indexedDB.databases()).find((database) => database.name?.endsWith("-unsent"))?.name;
    if (!name) return [];
    const opening = indexedDB.open(name);
    await new Promise((resolve) => opening.addEventListener("success", resolve));
    const rows = opening.result.transaction(table).objectStore(table).getAll();
    await new Promise((resolve) => rows.addEventListener("success", resolve));
    opening.result.close();
    return rows.result;
  }, table);

/** Adds a row to a table of the unsent database, which exists. */
export const addUnsentRow = (page: Page, table: UnsentTable, row: object): Promise<void> =>
  page.evaluate(
    async ({ table, row }) => {
      const name = (await indexedDB.databases()).find((database) => database.name?.endsWith("-unsent"))?.name ?? "";
      const opening = indexedDB.open(name);
      await new Promise((resolve) => opening.addEventListener("success", resolve));
      const transaction = opening.result.transaction(table, "readwrite");
      transaction.objectStore(table).add(row);
      await new Promise((resolve) => transaction.addEventListener("complete", resolve));
      opening.result.close();
    },
    { table, row },
  );

/** Lets nothing unsent be committed for a time, by default for as long as the page lives, as on a slow disk. */
export const holdUnsentWrites = (page: Page, ms = Number.MAX_SAFE_INTEGER): Promise<void> =>
  page.evaluate(
    async ({ ms, tables }) => {
      const endsAt = performance.now() + ms;
      const name = (await indexedDB.databases()).find((database) => database.name?.endsWith("-unsent"))?.name ?? "";
      const opening = indexedDB.open(name);
      await new Promise((resolve) => opening.addEventListener("success", resolve));
      const outbox = opening.result.transaction(tables, "readwrite").objectStore("outbox");
      const occupy = () => {
        if (performance.now() < endsAt) outbox.count().addEventListener("success", occupy);
        else opening.result.close();
      };
      occupy();
    },
    { ms, tables: Object.keys(unsentKeys) },
  );
