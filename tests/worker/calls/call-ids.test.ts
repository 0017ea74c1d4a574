import { expect, test } from "vitest";
import { createUuid, packUuid } from "#contract/ids.ts";
import {
  makeAnsweredCall,
  makeCallEntry,
  makeCallers,
  makeRingingCall,
  readCallEntries,
} from "#tests/worker/support/call-client.ts";
import { makeText, request } from "#tests/worker/support/device.ts";

/** The entry of a call has the call's id as client id, even if another message wants that id. */

test.each(["rings", "is talked"])("while a call %s its id names no message, and its entry is written", async (how) => {
  const { ana, ben, id, anas, bens, call } = await (how === "rings" ? makeRingingCall() : makeAnsweredCall());
  const refused = { error: "invalid_input" };
  for (const { person, device: link } of [anas, bens]) {
    const answer = await link.request((ref) => ["s", ref, id, packUuid(call), "à sa place"]);
    expect(answer.slice(2)).toEqual(["invalid_input"]);
    expect(await request(person, { type: "send", conversation: id, messages: [makeText("là aussi", call)] })).toEqual(
      refused,
    );
  }
  // Other messages of the same request are sent.
  const both = [makeText("à sa place", call), makeText("et autre chose")];
  expect(await request(ana, { type: "send", conversation: id, messages: both })).toMatchObject({ sent: [{ seq: 1 }] });
  const status = how === "rings" ? "missed" : "ended";
  await anas.hangUp(call, status);
  for (const person of [ana, ben]) {
    expect((await readCallEntries(person, id)).map(({ body }) => body)).toEqual([makeCallEntry(call, status)]);
  }
  expect(await request(ben, { type: "send", conversation: id, messages: [makeText("plus tard", call)] })).toEqual(
    refused,
  );
});

test("a message id is not accepted as a call id", async () => {
  const { ana, id, anas, bens } = await makeCallers();
  const call = createUuid();
  await request(ana, { type: "send", conversation: id, messages: [makeText("avant", call)] });
  expect(await anas.dial(call)).toEqual({ error: "call_not_found" });
  await bens.device.waitForPong();
  expect(bens.listEvents(call)).toEqual([]);
});
