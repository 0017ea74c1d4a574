import { expect, test } from "vitest";
import { createUuid } from "#contract/ids.ts";
import { Device, makeText, readLog, readRow, request, toTexts, waitUntil } from "#tests/worker/support/device.ts";
import { makeSyncedGroup, requestAs } from "#tests/worker/support/make-group.ts";
import { befriend, seedPerson } from "#tests/worker/support/seeded-people.ts";

test("a removed member can learn over every transport the result of their messages, and adds nothing by asking", async () => {
  const { id, owner, others } = await makeSyncedGroup(2);
  const [cleo] = others;
  if (!cleo) throw new Error("too few");
  const otherConversation = await befriend(cleo, await seedPerson());
  const phone = await Device.open(cleo);
  const stored = createUuid();
  const outcome = await phone.waitForOutcome(phone.sendText(id, "à temps", stored));
  const { handle } = await readRow(cleo, id);
  expect(await requestAs(owner, "DELETE", `/api/groups/${id}/members/${cleo.id}`)).toBe(null);
  await waitUntil(async () => !(await readRow(cleo, id)).open);

  const refused = { error: "conversation_not_found" };
  for (const device of [phone, await Device.open(cleo)]) {
    for (const of of [handle, id]) {
      expect(await device.waitForOutcome(device.sendText(of, "à temps", stored))).toEqual(outcome);
      expect(await device.waitForOutcome(device.sendText(of, "trop tard"))).toMatchObject(refused);
    }
    const to = [
      { conversation: id, cid: stored },
      { conversation: otherConversation, cid: createUuid() },
      { conversation: id, cid: createUuid() },
    ];
    const [known = 0, there = 0, late = 0] = device.multicast({
      type: "multicast",
      body: { type: "text", text: "à tous" },
      to,
    });
    expect(await device.waitForOutcome(known)).toEqual(outcome);
    expect(await device.waitForOutcome(there)).toHaveProperty("seq");
    expect(await device.waitForOutcome(late)).toMatchObject(refused);
  }
  const messages = [makeText("à temps", stored)];
  expect((await request(cleo, { type: "send", conversation: id, messages })).sent).toEqual([
    { cid: stored, ...outcome },
  ]);
  expect(await request(cleo, { type: "send", conversation: id, messages: [makeText("trop tard")] })).toEqual(refused);
  const unknown = createUuid();
  const to = [stored, unknown].map((cid) => ({ conversation: id, cid }));
  expect(await request(cleo, { type: "multicast", body: { type: "text", text: "à tous" }, to })).toEqual({
    sent: [{ conversation: id, epoch: (await readRow(cleo, id)).epoch, cid: stored, ...outcome }],
    refused: [{ cid: unknown, ...refused }],
  });
  expect(toTexts(await readLog(owner, id)).filter((one) => !one.startsWith("<"))).toEqual(["à temps"]);
  expect(await readRow(cleo, id)).toMatchObject({ gone: false, open: false, unread: 0, head: 3 });
});
