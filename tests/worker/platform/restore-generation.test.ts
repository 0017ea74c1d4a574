import { expect, test } from "vitest";
import { isRestored, newEpoch, readRestoreGeneration } from "#worker/objects/shared/epochs.ts";

test("the generation of an object is the larger of its own and that of all", () => {
  const settings = { RESTORE_GENERATION: "3", RESTORED_OBJECTS: "a=5, b=2,c" };
  expect(["a", "b", "c", "d"].map((id) => readRestoreGeneration(settings, id))).toEqual([5, 3, 3, 3]);
  expect(readRestoreGeneration({ RESTORE_GENERATION: "", RESTORED_OBJECTS: "" }, "a")).toBe(0);
  expect(readRestoreGeneration({ RESTORE_GENERATION: "x", RESTORED_OBJECTS: "a=x" }, "a")).toBe(0);
});

test("data of another generation was restored", () => {
  for (const generation of [0, 1, 12]) {
    const epoch = newEpoch(generation);
    expect(newEpoch(generation)).not.toBe(epoch);
    expect([0, 1, 2, 12].filter((inForce) => !isRestored(epoch, inForce))).toEqual([generation]);
  }
});
