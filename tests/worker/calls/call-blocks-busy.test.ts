import { evictDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { expect, test } from "vitest";
import { createUuid } from "#contract/ids.ts";
import {
  type CallClient,
  channelStub,
  makeAnsweredCall,
  makeCallEntry,
  makeCallers,
  makeContact,
  makeRingingCall,
  readCallEntries,
  runAlarm,
} from "#tests/worker/support/call-client.ts";
import { request, waitUntil } from "#tests/worker/support/device.ts";
import { getConversationStub } from "#worker/objects/stubs.ts";

/**
 * A blocked caller learns no more about the called person than anybody else: neither that they are in a call nor that
 * they are free.
 */

const shapeOf = (phone: CallClient, ids: readonly string[]) =>
  phone.received.map((event) =>
    ids.reduce((text, id) => text.replaceAll(id, "id"), JSON.stringify(event)).replace(/\d{4,}/g, "n"),
  );

test.each(["rung", "talks", "calls"] as const)(
  "a person who %s is as busy for a blocked caller as for others",
  async (state) => {
    const play = async (isBlocked: boolean) => {
      const { ana, ben, anas, bens, call } = await (state === "talks" ? makeAnsweredCall() : makeRingingCall());
      const [busy, phone] = state === "calls" ? [ana, anas] : [ben, bens];
      const cleo = await makeContact(busy);
      if (isBlocked) await getConversationStub(env, cleo.id).setBlocked(busy.id, true);
      const before = phone.received.length;
      const other = createUuid();
      const dialled = await cleo.phone.dial(other);
      expect(dialled).toMatchObject({ over: null });
      await cleo.phone.waitForEvent(other, "missed");
      expect(await cleo.phone.dial(other)).toMatchObject({ over: { status: "missed", reason: "busy" } });
      expect((await readCallEntries(cleo.person, cleo.id)).map(({ body }) => body)).toEqual([
        makeCallEntry(other, "missed", { reason: "busy" }),
      ]);
      if (isBlocked) {
        await runAlarm(cleo.id);
        expect(phone.received).toHaveLength(before);
        expect((await readCallEntries(busy, cleo.id)).map(({ body }) => body)).toEqual([]);
      }
      expect(await phone.request({ type: "standing", call })).toMatchObject({ over: null });
      return shapeOf(cleo.phone, [other, cleo.id, cleo.phone.id, cleo.person.id, busy.id]);
    };
    expect(await play(true)).toEqual(await play(false));
  },
);

test("a call of a blocked person is ended when the other becomes busy, and makes the other busy for nobody", async () => {
  const { ana, ben, id, anas, bens } = await makeCallers();
  const cleo = await makeContact(ben);
  await getConversationStub(env, cleo.id).setBlocked(ben.id, true);
  const held = createUuid();
  await cleo.phone.dial(held);
  await runAlarm(cleo.id);
  await evictDurableObject(channelStub(ben.id));
  const call = createUuid();
  await anas.dial(call);
  await bens.waitForEvent(call, "ring");
  expect(cleo.phone.listEvents(held)).toEqual(["ring"]);
  await bens.answer(call);
  expect((await cleo.phone.waitForEvent(held, "missed")).data).toMatchObject({ reason: "busy" });
  await anas.waitForEvent(call, "answered");
  expect(bens.received.some(({ data }) => data.call_id === held)).toBe(false);
  expect((await request(ben, { type: "changes", since: 0 })).calls.map(({ call_id }) => call_id)).toEqual([call]);
  expect((await readCallEntries(ana, id)).length).toBe(0);
});

test("if two people call each other at once while one blocks the other, the second gets the usual busy answer", async () => {
  const { ben, bens } = await makeCallers();
  const [cleo, dora] = [await makeContact(ben), await makeContact(ben)];
  for (const { id } of [cleo, dora]) await getConversationStub(env, id).setBlocked(ben.id, true);
  const [first, second] = [createUuid(), createUuid()];
  await cleo.phone.dial(first);
  await runAlarm(cleo.id);
  await dora.phone.dial(second);
  expect((await dora.phone.waitForEvent(second, "missed")).data).toMatchObject({ reason: "busy" });
  expect(cleo.phone.listEvents(first)).toEqual(["ring"]);
  expect(bens.received).toEqual([]);
  await cleo.phone.hangUp(first, "missed");
  // Calls of others ring nevertheless, and people whose call ended are free for each other again.
  await waitUntil(async () => {
    const third = createUuid();
    await dora.phone.dial(third);
    await runAlarm(dora.id);
    const isRinging = (await dora.phone.request({ type: "standing", call: third })).over === null;
    await dora.phone.hangUp(third, "missed");
    return isRinging;
  });
});
