import { env } from "cloudflare:workers";
import { expect, test } from "vitest";
import {
  askAgainDays,
  newAccountHours,
  pendingRequestsMax,
  requestsNewMax,
  requestsReceivedPerDay,
} from "#contract/limits.ts";
import type { Relation } from "#contract/people.ts";
import { connectPeople, type Person } from "#tests/support/people/people.ts";
import { seedPerson } from "#tests/worker/support/seeded-people.ts";
import { call, makePerson, site } from "#tests/worker/support/site.ts";

/** Limits of connection requests, named in the error that a person reads. */

const hourMs = 3_600_000;
const ask = (by: Person, other: Person) =>
  call("POST", "/api/requests", { token: by.token, body: { to_user_id: other.id } });
const askedBy = async (by: Person, other: Person): Promise<string> => {
  const answer = await ask(by, other);
  return answer.status === 200 ? "sent" : (answer.body as { error_code: string }).error_code;
};
const decline = async (by: Person, asked: Relation) =>
  call("POST", `/api/requests/${asked.request_id}/decline`, { token: by.token });
/** Person whose account is no longer new. */
const grownUp = async (): Promise<Person> => {
  const person = await makePerson();
  await env.DB.prepare("UPDATE users SET created_at = created_at - ? WHERE id = ?")
    .bind((newAccountHours + 1) * hourMs, person.id)
    .run();
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

test("a new account may have five pending requests, an older one more", async () => {
  const [ana, ben] = [await makePerson(), await grownUp()];
  const others = await people(requestsNewMax + 1);
  const [first, ...rest] = others;
  if (!first) throw new Error("nobody to ask");
  for (const by of [ana, ben]) {
    await connectPeople(site, by, first);
    for (const other of rest) expect(await askedBy(by, other)).toBe("sent");
    const one = await grownUp();
    expect(await askedBy(by, one)).toBe(by === ana ? "requests_used_up" : "sent");
  }
  // No more of several concurrent requests are accepted.
  const [cal, some] = [await makePerson(), await people(requestsNewMax * 2)];
  const answers = await Promise.all(some.map((other) => askedBy(cal, other)));
  expect(answers.filter((one) => one === "sent")).toHaveLength(requestsNewMax);
  expect(new Set(answers)).toEqual(new Set(["sent", "requests_used_up"]));
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

test("of fifty new accounts five reach one person in a day, and each reaches five strangers", async () => {
  const seed = (count: number) => Promise.all(Array.from({ length: count }, seedPerson));
  const [senders, strangers, target] = [await seed(50), await seed(requestsNewMax), await seedPerson()];
  const toTarget: string[] = [];
  for (const sender of senders) toTarget.push(await askedBy(sender, target));
  expect(toTarget.filter((one) => one === "sent")).toHaveLength(requestsReceivedPerDay / 2);
  expect(toTarget.slice(requestsReceivedPerDay / 2).every((one) => one === "request_not_possible")).toBe(true);
  // Two of them go on: one whom the first stranger received, and one who was refused, which uses up nothing.
  for (const [index, rest] of [
    [0, requestsNewMax - 1],
    [49, requestsNewMax],
  ] as const) {
    const sender = senders[index];
    if (!sender) throw new Error("no sender");
    for (const stranger of strangers.slice(0, rest)) expect(await askedBy(sender, stranger)).toBe("sent");
    expect(await askedBy(sender, await seedPerson())).toBe("requests_used_up");
  }
});
