import { env } from "cloudflare:workers";
import { expect, test } from "vitest";
import { askAgainDays, pendingRequestsMax, requestsReceivedPerDay } from "#contract/limits/people.ts";
import type { Relation } from "#contract/people.ts";
import { tierAllowances } from "#contract/settings/trust-tiers.ts";
import { connectPeople, type Person } from "#tests/support/people/people.ts";
import { makeTrusted, seedPerson } from "#tests/worker/support/seeded-people.ts";
import { call, makePerson, site } from "#tests/worker/support/site.ts";
import { callWithLimits } from "#tests/worker/support/wrapped-site.ts";

/** Limits of connection requests, named in the error that a person reads. */

const hourMs = 3_600_000;
const ask = (by: Person, other: Person) =>
  callWithLimits("POST", "/api/requests", { token: by.token, body: { to_user_id: other.id } });
const askedBy = async (by: Person, other: Person): Promise<string> => {
  const answer = await ask(by, other);
  return answer.status === 200 ? "sent" : (answer.body as { error_code: string }).error_code;
};
const decline = async (by: Person, asked: Relation) =>
  call("POST", `/api/requests/${asked.request_id}/decline`, { token: by.token });
/** Person of the highest trust tier. */
const grownUp = async (): Promise<Person> => {
  const person = await seedPerson();
  await makeTrusted(person);
  return person;
};
const people = (count: number, make = grownUp) => Promise.all(Array.from({ length: count }, make));
/** Makes the requests to or from this person older. */
const passesFor = (person: Person, ms: number) =>
  env.DB.prepare(
    "UPDATE connection_requests SET created_at = created_at - ?1, updated_at = updated_at - ?1 WHERE ?2 IN (from_user_id, to_user_id)",
  )
    .bind(ms, person.id)
    .run();

test("a declined person may ask again after a day, a week and a month, and not before", async () => {
  const [ana, ben] = [await grownUp(), await grownUp()];
  for (const days of askAgainDays) {
    const asked = await ask(ana, ben);
    expect(asked.status).toBe(200);
    await decline(ben, asked.body as Relation);
    const paused = await ask(ana, ben);
    expect(paused).toMatchObject({ status: 429, body: { error_code: "request_declined" } });
    const seconds = Number(paused.headers.get("retry-after"));
    expect(seconds).toBeGreaterThan((days * 24 - 1) * 3_600);
    expect(seconds).toBeLessThanOrEqual(days * 24 * 3_600);
    await passesFor(ana, days * 24 * hourMs - hourMs);
    expect(await askedBy(ana, ben)).toBe("request_declined");
    await passesFor(ana, hourMs);
  }
  expect(await askedBy(ana, ben)).toBe("sent");
});

test("an ended contact does not count as a refusal", async () => {
  const [ana, ben] = [await makePerson(), await makePerson()];
  await connectPeople(site, ana, ben);
  await call("DELETE", `/api/contacts/${ana.id}`, { token: ben.token });
  expect(await askedBy(ana, ben)).toBe("sent");
});

test("requests are limited by trust tier; accepted ones do not count, concurrent ones do", async () => {
  const { requestsPerDay } = tierAllowances.confirmed;
  const ana = await makePerson();
  await env.DB.prepare("UPDATE profiles SET verified_at = 1 WHERE id = ?").bind(ana.id).run();
  const [first, second, ...rest] = await people(requestsPerDay + 3, seedPerson);
  if (!first || !second) throw new Error("nobody to ask");
  await connectPeople(site, ana, first);
  const answers = await Promise.all(rest.map((other) => askedBy(ana, other)));
  expect(answers.filter((one) => one === "sent")).toHaveLength(requestsPerDay);
  expect(new Set(answers)).toEqual(new Set(["sent", "requests_used_up"]));
  expect(await askedBy(ana, second)).toBe("requests_used_up");
  await passesFor(ana, 24 * hourMs);
  expect(await askedBy(ana, second)).toBe("sent");
});

test("the requests to one person are limited per day, half of them for new accounts, and in number pending", async () => {
  const ana = await makePerson();
  const strangers = await people(requestsReceivedPerDay, makePerson);
  const answers: string[] = [];
  for (const stranger of strangers) answers.push(await askedBy(stranger, ana));
  expect(answers.filter((one) => one === "sent")).toHaveLength(requestsReceivedPerDay / 2);
  expect(answers.at(-1)).toBe("request_not_possible");
  // Requests to others are accepted until the daily limit.
  const older = await people(requestsReceivedPerDay / 2);
  for (const one of older) expect(await askedBy(one, ana)).toBe("sent");
  const late = await grownUp();
  expect(await askedBy(late, ana)).toBe("request_not_possible");
  // The next day, up to the limit of pending requests; further ones only after some were answered.
  await passesFor(ana, 24 * hourMs);
  for (const one of [late, ...(await people(pendingRequestsMax - requestsReceivedPerDay - 1))])
    expect(await askedBy(one, ana)).toBe("sent");
  await passesFor(ana, 24 * hourMs);
  const last = await grownUp();
  expect(await askedBy(last, ana)).toBe("request_not_possible");
  // A limited person can still receive requests, and requests of blocked people do not count.
  await call("PUT", `/api/blocks/${late.id}`, { token: ana.token });
  expect(await askedBy(last, ana)).toBe("sent");
});

test("a blocked person gets the same answers as everybody else", async () => {
  const [ana, ben, cleo] = [await makePerson(), await grownUp(), await grownUp()];
  await call("PUT", `/api/blocks/${ben.id}`, { token: ana.token });
  for (const one of await people(requestsReceivedPerDay)) expect(await askedBy(one, ana)).toBe("sent");
  expect([await askedBy(ben, ana), await askedBy(cleo, ana)]).toEqual(["request_not_possible", "request_not_possible"]);
});
