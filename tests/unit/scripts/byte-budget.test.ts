import { expect, test } from "vitest";
import { compareBudget } from "#scripts/check/byte-budget.mjs";

const budget = { "all: /": 109_500, "lazy: calls.js": 30_700 };

test("an entry may shrink, and grow by half a kilobyte", () => {
  expect(compareBudget(budget, { "all: /": 110_000, "lazy: calls.js": 20_000 })).toEqual([]);
});

test("an entry that grew more, and a new one of such a size, are listed with both sizes", () => {
  const grown = compareBudget(budget, { "all: /": 110_001, "lazy: calls.js": 30_700, "lazy: new.js": 600 });
  expect(grown).toEqual([
    "all: /: 110.0 kB instead of 109.5 kB, 0.5 kB more",
    "lazy: new.js: 0.6 kB instead of 0.0 kB, 0.6 kB more",
  ]);
});
