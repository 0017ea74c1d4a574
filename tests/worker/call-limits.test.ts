import { evictDurableObject } from "cloudflare:test";
import { afterEach, expect, test, vi } from "vitest";
import { createUuid } from "../../contract/ids";
import { dialBurst, dialsPerSecond, unansweredMax, unansweredMs } from "../../contract/limits";
import { post } from "./device";
import { channelStub, evict, newCallers, newContact, Phone, pass } from "./phone";
import { call as ask } from "./site";

/** Whom a call rings is not rung without end, and the objects that count are put to sleep within seconds. */

afterEach(() => {
  vi.restoreAllMocks();
});

/** Rings and gives up so often. */
const ringInVain = async (caller: Phone, times: number): Promise<void> => {
  for (let i = 0; i < times; i++) {
    const call = createUuid();
    expect(await caller.dial(call), `ring ${i}`).toMatchObject({ over: null });
    // A call that is known is asked for as often as one likes.
    expect(await caller.dial(call)).toMatchObject({ over: null });
    await caller.hangUp(call, "missed");
  }
};
const limited = { error: "rate_limited" };

test("nobody dials again and again, though their channel sleeps in between", async () => {
  const { ana, anas } = await newCallers();
  const now = Date.now();
  vi.spyOn(Date, "now").mockImplementation(() => now);
  const contacts = [await newContact(ana), await newContact(ana), await newContact(ana)];
  const phones = [anas, ...(await Promise.all(contacts.map(({ id }) => Phone.of(ana, id))))];
  for (let i = 0; i < dialBurst; i++) {
    if (i % 5 === 0) await evictDurableObject(channelStub(ana.id));
    await ringInVain(phones[i % phones.length] as Phone, 1);
  }
  await evictDurableObject(channelStub(ana.id));
  for (const phone of phones) expect(await phone.dial(createUuid())).toEqual(limited);
  vi.spyOn(Date, "now").mockImplementation(() => now + 1_000 / dialsPerSecond);
  await ringInVain(anas, 1);
  expect(await anas.dial(createUuid())).toEqual(limited);
});

test("somebody who does not answer is rung ten times in ten minutes by one person, and then left alone", async () => {
  const { ana, ben, id, anas, bens } = await newCallers();
  await ringInVain(anas, unansweredMax / 2);
  await evict(id);
  await ringInVain(anas, unansweredMax / 2);
  await evict(id);
  const body = { conversation: id, type: "audio" };
  const refused = await ask("POST", "/api/calls", { token: ana.token, body });
  expect(refused).toMatchObject({ status: 429, body: { error_code: "rate_limited" } });
  const wait = Number(refused.headers.get("retry-after"));
  expect(wait).toBeGreaterThan(unansweredMs / 1_000 - 60);
  expect(wait).toBeLessThanOrEqual(unansweredMs / 1_000);
  expect(bens.told.filter(({ event_type }) => event_type === "ring")).toHaveLength(unansweredMax);
  // They themselves may call, and others may call them.
  const friend = await newContact(ben);
  await ringInVain(friend.phone, 1);
  pass(unansweredMs);
  await ringInVain(anas, unansweredMax);
  expect(await anas.dial(createUuid())).toEqual(limited);
  await ringInVain(bens, 1);
  await ringInVain(anas, 1);
});

test("whoever answers, or writes, is rung anew", async () => {
  const { ana, ben, id, anas, bens } = await newCallers();
  await ringInVain(anas, unansweredMax - 1);
  const call = createUuid();
  await anas.dial(call);
  await bens.hears(call, "ring");
  await bens.answer(call);
  await anas.hangUp(call, "ended");
  pass(60_000);
  await ringInVain(anas, unansweredMax);
  expect(await anas.dial(createUuid())).toEqual(limited);
  await post(ana, id, "décroche");
  expect(await anas.dial(createUuid())).toEqual(limited);
  await post(ben, id, "dans un moment");
  await ringInVain(anas, 1);
});
