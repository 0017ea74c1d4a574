import { expect, test } from "vitest";
import { createUuid } from "#contract/ids.ts";
import { Device, readLog, request, rowOf, text, textsOf, until } from "#tests/worker/support/device.ts";
import { ask, newGroup } from "#tests/worker/support/make-group.ts";
import { befriend, seedPerson } from "#tests/worker/support/seeded-people.ts";

test("who was removed hears in every way what became of what they had sent, and adds nothing by asking", async () => {
  const { id, owner, others } = await newGroup(2);
  const [cleo] = others;
  if (!cleo) throw new Error("too few");
  const elsewhere = await befriend(cleo, await seedPerson());
  const phone = await Device.open(cleo);
  const stored = createUuid();
  const place = await phone.outcome(phone.say(id, "à temps", stored));
  const { handle } = await rowOf(cleo, id);
  expect(await ask(owner, "DELETE", `/api/groups/${id}/members/${cleo.id}`)).toBe(null);
  await until(async () => (await rowOf(cleo, id)).gone);

  const refused = { error: "conversation_not_found" };
  for (const device of [phone, await Device.open(cleo)]) {
    for (const of of [handle, id]) {
      expect(await device.outcome(device.say(of, "à temps", stored))).toEqual(place);
      expect(await device.outcome(device.say(of, "trop tard"))).toMatchObject(refused);
    }
    const to = [
      { conversation: id, cid: stored },
      { conversation: elsewhere, cid: createUuid() },
      { conversation: id, cid: createUuid() },
    ];
    const [known = 0, there = 0, late = 0] = device.spread({
      type: "spread",
      body: { type: "text", text: "à tous" },
      to,
    });
    expect(await device.outcome(known)).toEqual(place);
    expect(await device.outcome(there)).toHaveProperty("seq");
    expect(await device.outcome(late)).toMatchObject(refused);
  }
  const messages = [text("à temps", stored)];
  expect((await request(cleo, { type: "send", conversation: id, messages })).sent).toEqual([{ cid: stored, ...place }]);
  expect(await request(cleo, { type: "send", conversation: id, messages: [text("trop tard")] })).toEqual(refused);
  const unknown = createUuid();
  const to = [stored, unknown].map((cid) => ({ conversation: id, cid }));
  expect(await request(cleo, { type: "spread", body: { type: "text", text: "à tous" }, to })).toEqual({
    sent: [{ conversation: id, cid: stored, ...place }],
    refused: [{ cid: unknown, ...refused }],
  });
  expect(textsOf(await readLog(owner, id)).filter((one) => !one.startsWith("<"))).toEqual(["à temps"]);
  expect(await rowOf(cleo, id)).toMatchObject({ gone: true, preview: null, unread: 0 });
});
