import { evictDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { expect, test } from "vitest";
import { createUuid } from "#contract/ids.ts";
import { request, until } from "#tests/worker/support/device.ts";
import {
  alarm,
  channelStub,
  line,
  linesOf,
  newCallers,
  newContact,
  newRing,
  newTalk,
  type Phone,
} from "#tests/worker/support/phone.ts";
import { getConversationStub } from "#worker/objects/stubs.ts";

/**
 * A blocked caller learns no more about the called person than anybody else: neither that they are in a call nor that
 * they are free.
 */

const shapeOf = (phone: Phone, ids: readonly string[]) =>
  phone.told.map((told) =>
    ids.reduce((text, id) => text.replaceAll(id, "id"), JSON.stringify(told)).replace(/\d{4,}/g, "n"),
  );

test.each(["rung", "talks", "calls"] as const)(
  "somebody who %s is as busy for whom they block as for others",
  async (state) => {
    const play = async (isBlocked: boolean) => {
      const { ana, ben, anas, bens, call } = await (state === "talks" ? newTalk() : newRing());
      const [busy, phone] = state === "calls" ? [ana, anas] : [ben, bens];
      const cleo = await newContact(busy);
      if (isBlocked) await getConversationStub(env, cleo.id).setBlocked(cleo.id, busy.id, true);
      const before = phone.told.length;
      const other = createUuid();
      const dialled = await cleo.phone.dial(other);
      expect(dialled).toMatchObject({ over: null });
      await cleo.phone.hears(other, "missed");
      expect(await cleo.phone.dial(other)).toMatchObject({ over: { status: "missed", reason: "busy" } });
      expect((await linesOf(cleo.person, cleo.id)).map(({ body }) => body)).toEqual([
        line(other, "missed", { reason: "busy" }),
      ]);
      if (isBlocked) {
        await alarm(cleo.id);
        expect(phone.told).toHaveLength(before);
        expect((await linesOf(busy, cleo.id)).map(({ body }) => body)).toEqual([]);
      }
      expect(await phone.ask({ type: "standing", call })).toMatchObject({ over: null });
      return shapeOf(cleo.phone, [other, cleo.id, cleo.phone.id, cleo.person.id, busy.id]);
    };
    expect(await play(true)).toEqual(await play(false));
  },
);

test("a call of somebody who is blocked is ended by what makes the other busy meanwhile, and makes them busy for nobody", async () => {
  const { ana, ben, id, anas, bens } = await newCallers();
  const cleo = await newContact(ben);
  await getConversationStub(env, cleo.id).setBlocked(cleo.id, ben.id, true);
  const held = createUuid();
  await cleo.phone.dial(held);
  await alarm(cleo.id);
  await evictDurableObject(channelStub(ben.id));
  const call = createUuid();
  await anas.dial(call);
  await bens.hears(call, "ring");
  expect(cleo.phone.heard(held)).toEqual(["ring"]);
  await bens.answer(call);
  expect((await cleo.phone.hears(held, "missed")).data).toMatchObject({ reason: "busy" });
  await anas.hears(call, "answered");
  expect(bens.told.some(({ data }) => data.call_id === held)).toBe(false);
  expect((await request(ben, { type: "changes", since: 0 })).calls.map(({ call_id }) => call_id)).toEqual([call]);
  expect((await linesOf(ana, id)).length).toBe(0);
});

test("of two who are blocked and call at once, the second finds the other as busy as anybody would", async () => {
  const { ben, bens } = await newCallers();
  const [cleo, dora] = [await newContact(ben), await newContact(ben)];
  for (const { id } of [cleo, dora]) await getConversationStub(env, id).setBlocked(id, ben.id, true);
  const [first, second] = [createUuid(), createUuid()];
  await cleo.phone.dial(first);
  await alarm(cleo.id);
  await dora.phone.dial(second);
  expect((await dora.phone.hears(second, "missed")).data).toMatchObject({ reason: "busy" });
  expect(cleo.phone.heard(first)).toEqual(["ring"]);
  expect(bens.told).toEqual([]);
  await cleo.phone.hangUp(first, "missed");
  // Calls of others ring nevertheless, and people whose call ended are free for each other again.
  await until(async () => {
    const third = createUuid();
    await dora.phone.dial(third);
    await alarm(dora.id);
    const isRinging = (await dora.phone.ask({ type: "standing", call: third })).over === null;
    await dora.phone.hangUp(third, "missed");
    return isRinging;
  });
});
