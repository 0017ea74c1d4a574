import { expect, test } from "vitest";
import { createUuid, packUuid } from "#contract/ids.ts";
import { request, text } from "#tests/worker/support/device.ts";
import { line, linesOf, newCallers, newRing, newTalk } from "#tests/worker/support/phone.ts";

/** The entry of a call has the call's id as client id, even if another message wants that id. */

test.each(["rings", "is talked"])("while a call %s its id names no message, and its line is written", async (how) => {
  const { ana, ben, id, anas, bens, call } = await (how === "rings" ? newRing() : newTalk());
  const refused = { error: "invalid_input" };
  for (const { person, link } of [anas, bens]) {
    const answer = await link.ask((ref) => ["s", ref, id, packUuid(call), "à sa place"]);
    expect(answer.slice(2)).toEqual(["invalid_input"]);
    expect(await request(person, { type: "send", conversation: id, messages: [text("là aussi", call)] })).toEqual(
      refused,
    );
  }
  // Other messages of the same request are sent.
  const both = [text("à sa place", call), text("et autre chose")];
  expect(await request(ana, { type: "send", conversation: id, messages: both })).toMatchObject({ sent: [{ seq: 1 }] });
  const status = how === "rings" ? "missed" : "ended";
  await anas.hangUp(call, status);
  for (const person of [ana, ben]) {
    expect((await linesOf(person, id)).map(({ body }) => body)).toEqual([line(call, status)]);
  }
  expect(await request(ben, { type: "send", conversation: id, messages: [text("plus tard", call)] })).toEqual(refused);
});

test("the name of a message is no call's", async () => {
  const { ana, id, anas, bens } = await newCallers();
  const call = createUuid();
  await request(ana, { type: "send", conversation: id, messages: [text("avant", call)] });
  expect(await anas.dial(call)).toEqual({ error: "call_not_found" });
  await bens.link.pong();
  expect(bens.heard(call)).toEqual([]);
});
