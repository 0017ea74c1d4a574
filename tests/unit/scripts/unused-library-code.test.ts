import Dexie from "dexie";
import { IDBFactory, IDBKeyRange } from "fake-indexeddb";
import { createInstance } from "i18next";
import { expect, test } from "vitest";

test("unit tests run with the libraries as the client contains them", () => {
  expect(Dexie).not.toHaveProperty("getDatabaseNames");
  expect(createInstance()).not.toHaveProperty("cloneInstance");
});

test("a query by the first part of a compound index fails", async () => {
  const database = new Dexie("compound", { indexedDB: new IDBFactory(), IDBKeyRange });
  database.version(1).stores({ rows: "[conversation+seq]" });
  const rows = database.table("rows");
  await rows.add({ conversation: "a", seq: 1 });
  expect(await rows.where("[conversation+seq]").equals(["a", 1]).count()).toBe(1);
  await expect(rows.where("conversation").equals("a").count()).rejects.toThrow("not indexed");
});
