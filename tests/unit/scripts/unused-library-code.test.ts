import Dexie from "dexie";
import { createInstance } from "i18next";
import { expect, test } from "vitest";

test("unit tests run with the libraries as the client contains them", () => {
  expect(Dexie).not.toHaveProperty("getDatabaseNames");
  expect(createInstance()).not.toHaveProperty("cloneInstance");
});
