import { env } from "cloudflare:workers";
import { expect, onTestFinished, test } from "vitest";
import { numberContestDays, numberProofMinutes, numberUnusedDays } from "#contract/limits/phone-numbers.ts";
import { type Person, phoneOf } from "#tests/support/people/people.ts";
import { waitUntil } from "#tests/worker/support/device.ts";
import { takePersonNumber } from "#tests/worker/support/person-numbers.ts";
import { makePerson } from "#tests/worker/support/site.ts";
import { advanceFrozenClock, freezeClock, resumeClock } from "#tests/worker/support/with-second-factor.ts";
import { callWith } from "#tests/worker/support/wrapped-site.ts";
import {
  eventsOf,
  isVerified,
  postCall,
  prove,
  readOwnNumber,
  registerPerson,
  renew,
  startProof,
  toCallWebhook,
  withAdapters,
} from "./number-proofs.ts";

/** A call does not say for whom it is: whoever is talked into calling proves the number for somebody else. */

const daySeconds = 24 * 3_600;
const codeOf = (answer: { body: unknown }) => (answer.body as { error_code?: string }).error_code;

/** Starts to prove a number of somebody else as a new one. */
const aim = async (by: Person, phone: string) => {
  const { token } = await renew(by);
  return callWith(withAdapters(), "POST", "/api/number/proofs", { token, body: { method: "missed_call", phone } });
};
const ring = async (phone: string) => expect((await postCall(toCallWebhook(phone))).status).toBe(204);
const endSessions = async (...people: Person[]) => {
  for (const { id } of people) await env.DB.prepare("DELETE FROM sessions WHERE user_id = ?").bind(id).run();
};

test("a call moves no number from an account in use, verified or not, and asks who has not verified it", async () => {
  const [ana, ben, eve] = [await makePerson(), await makePerson(), await makePerson()];
  await prove(ben);
  for (const { phone } of [ana, ben]) {
    expect((await aim(eve, phone)).status).toBe(201);
    await ring(phone);
    expect(await readOwnNumber(eve)).toMatchObject({
      phone: eve.phone,
      verified_at: null,
      refused_method: "missed_call",
    });
  }
  expect(await readOwnNumber(ana)).toMatchObject({ phone: ana.phone, verified_at: null, contested_until: null });
  expect(await readOwnNumber(ben)).toMatchObject({ phone: ben.phone, contested_until: null });
  await waitUntil(async () => (await eventsOf(ana)).includes("number_contested"));
  // At most one notice a day.
  await aim(eve, ana.phone);
  await ring(ana.phone);
  expect((await eventsOf(ana)).filter((event) => event === "number_contested")).toHaveLength(1);
  expect(await eventsOf(ben)).not.toContain("number_contested");
});

test("who claims a number and uses the account keeps it from a stranger's call, and is asked", async () => {
  freezeClock();
  onTestFinished(resumeClock);
  const [squatter, eve] = [await makePerson(), await makePerson()];
  await endSessions(squatter);
  advanceFrozenClock((numberUnusedDays + 1) * daySeconds);
  const owner = await registerPerson(squatter.phone);
  expect((await aim(eve, squatter.phone)).status).toBe(201);
  await ring(squatter.phone);
  expect(await readOwnNumber(await renew(eve))).toMatchObject({ phone: eve.phone, refused_method: "missed_call" });
  await waitUntil(async () => (await eventsOf(owner)).includes("number_contested"));

  await startProof(owner, "missed_call");
  await ring(squatter.phone);
  expect(await readOwnNumber(owner)).toMatchObject({ phone: squatter.phone, verified_at: expect.any(Number) });
  expect(await readOwnNumber(await renew(squatter))).toMatchObject({ phone: "" });
});

test("a call takes a number from an account that is unverified and unused, and from no verified one", async () => {
  freezeClock();
  onTestFinished(resumeClock);
  const [unused, verified] = [await makePerson(), await makePerson()];
  await prove(verified);
  await endSessions(unused, verified);
  advanceFrozenClock((numberUnusedDays + 1) * daySeconds);
  const takers = [await registerPerson(unused.phone), await registerPerson(verified.phone)];
  for (const taker of takers) {
    await startProof(taker, "missed_call");
    await ring(taker.phone);
  }
  expect(await Promise.all(takers.map(isVerified))).toEqual([true, false]);
  advanceFrozenClock((numberContestDays + 1) * daySeconds);
  expect(await readOwnNumber(await renew(verified))).toMatchObject({ phone: verified.phone, contested_until: null });
});

test("a number proved by a call goes at once to whoever proves it by a message, and its holder may do so too", async () => {
  const ana = await makePerson();
  await startProof(ana, "missed_call");
  await ring(ana.phone);
  expect(await isVerified(ana)).toBe(true);
  const owner = await registerPerson(ana.phone);
  await startProof(owner, "missed_call");
  await ring(ana.phone);
  expect(await readOwnNumber(owner)).toMatchObject({ verified_at: null, refused_method: "missed_call" });
  expect(await prove(owner)).toMatchObject({ phone: ana.phone, verified_at: expect.any(Number) });
  expect(await readOwnNumber(ana)).toMatchObject({ phone: "", verified_at: null });

  const ben = await makePerson();
  await startProof(ben, "missed_call");
  await ring(ben.phone);
  expect(await prove(ben)).toMatchObject({ verified_at: expect.any(Number) });
  const late = await registerPerson(ben.phone);
  expect(await prove(late)).toMatchObject({ verified_at: null, refused_method: "whatsapp_message" });
});

test("a stranger who waits for a call from a number locks out neither its holder nor who claims it", async () => {
  const [ana, eve, dan] = [await makePerson(), await makePerson(), await makePerson()];
  const claimant = await registerPerson(ana.phone);
  expect((await aim(eve, ana.phone)).status).toBe(201);
  expect(codeOf(await aim(dan, ana.phone))).toBe("number_call_expected");
  await startProof(claimant, "missed_call"); // in place of the stranger's
  await startProof(ana, "missed_call"); // in place of the claimant's
  for (const other of [eve, claimant]) {
    const { token } = await renew(other);
    const body = { method: "missed_call", ...(other === eve ? { phone: ana.phone } : {}) };
    const answer = await callWith(withAdapters(), "POST", "/api/number/proofs", { token, body });
    expect(codeOf(answer)).toBe("number_call_expected");
  }
  await ring(ana.phone);
  expect(await Promise.all([ana, eve, claimant].map(isVerified))).toEqual([true, false, false]);
  expect(await eventsOf(ana)).not.toContain("number_contested");
});

test("a stranger's expired wait for a call makes room for another one, and a free number can be taken by a call", async () => {
  const [eve, dan, phone] = [await makePerson(), await makePerson(), phoneOf(takePersonNumber())];
  expect((await aim(eve, phone)).status).toBe(201);
  expect(codeOf(await aim(dan, phone))).toBe("number_call_expected");
  await env.DB.prepare("UPDATE number_proofs SET expires_at = expires_at - ? WHERE user_id = ?")
    .bind(numberProofMinutes * 60_000 + 1, eve.id)
    .run();
  expect((await aim(dan, phone)).status).toBe(201);
  await ring(phone);
  expect(await readOwnNumber(dan)).toMatchObject({ phone, verified_at: expect.any(Number) });
});
