import { expect, test } from "vitest";
import { Device } from "#tests/worker/support/device.ts";
import { makePair } from "#tests/worker/support/seeded-people.ts";

test("of unreadable frames in one batch, those that expect an answer are answered by their ref", async () => {
  const { ana, id } = await makePair();
  const device = await Device.open(ana);
  const before = device.frames.length;
  device.sendRaw(
    JSON.stringify([
      ["q", 71, id, 5, 0],
      ["r", id, -1, 0],
      ["z", 72, id, 1],
      ["j", 73, id, { type: "dial" }],
      ["s", -1],
    ]),
  );
  await device.nextOf("x");
  expect(device.frames.slice(before)).toEqual([
    ["n", 71, "malformed_frame"],
    ["n", 73, "malformed_frame"],
    ["x", "malformed_frame"],
  ]);
});
