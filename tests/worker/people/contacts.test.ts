import { env } from "cloudflare:workers";
import { expect, test, vi } from "vitest";
import type { ContactPage, RequestPage } from "#contract/contacts.ts";
import { createUuid, privateConversationId } from "#contract/ids.ts";
import { contactPageRows } from "#contract/limits/people.ts";
import type { Relation } from "#contract/people.ts";
import { connectPeople, type Person } from "#tests/support/people/people.ts";
import { call, makePerson, site } from "#tests/worker/support/site.ts";
import { callWith, overrideMethods } from "#tests/worker/support/wrapped-site.ts";

const ask = (from: Person, to: { id: string }) =>
  call("POST", "/api/requests", { token: from.token, body: { to_user_id: to.id } });
const askFor = async (from: Person, to: Person): Promise<string> =>
  ((await ask(from, to)).body as Relation).request_id ?? "";
const answer = (by: Person, request: string, decision: "accept" | "decline") =>
  call("POST", `/api/requests/${request}/${decision}`, { token: by.token });
const remove = (by: Person, other: { id: string }) => call("DELETE", `/api/contacts/${other.id}`, { token: by.token });
const contactsOf = async (by: Person) => (await call("GET", "/api/contacts", { token: by.token })).body as ContactPage;
const requestsOf = async (by: Person) => (await call("GET", "/api/requests", { token: by.token })).body as RequestPage;
const idsOf = (page: ContactPage) => page.contacts.map(({ id }) => id);
const twoPeople = async () => [await makePerson(), await makePerson()] as const;

test("an accepted request makes two contacts", async () => {
  const [ana, ben] = await twoPeople();
  const asked = await ask(ana, ben);
  expect(asked).toMatchObject({ status: 200, body: { state: "sent", connection_id: null, profile: { id: ben.id } } });
  expect(await requestsOf(ana)).toMatchObject({
    sent: [{ from_user_id: ana.id, to_user_id: ben.id, status: "pending", to_user: { phone: "" } }],
    received: [],
    before: null,
  });
  expect(await requestsOf(ben)).toMatchObject({ sent: [], received: [{ from_user: { username: ana.username } }] });

  const request = (asked.body as Relation).request_id ?? "";
  const accepted = await answer(ben, request, "accept");
  expect(accepted).toMatchObject({ status: 200, body: { state: "contact", profile: { id: ana.id } } });
  for (const [me, other] of [
    [ana, ben],
    [ben, ana],
  ] as const) {
    expect(await contactsOf(me)).toMatchObject({
      contacts: [{ id: other.id, phone: other.phone, connection_request_id: request }],
      after: null,
    });
    expect(await requestsOf(me)).toEqual({ sent: [], received: [], before: null });
  }
  const row = await env.DB.prepare("SELECT user1_id, user2_id FROM connections WHERE request_id = ?")
    .bind(request)
    .first();
  expect(row).toEqual({ user1_id: ana.id, user2_id: ben.id });
});

test("a request to oneself, to an unknown person, or a second one is refused", async () => {
  const [ana, ben] = await twoPeople();
  expect(await ask(ana, ana)).toMatchObject({ status: 400, body: { error_code: "request_to_self" } });
  expect(await ask(ana, { id: createUuid() })).toMatchObject({ status: 404, body: { error_code: "user_not_found" } });
  expect((await ask(ana, ben)).status).toBe(200);
  expect(await ask(ana, ben)).toMatchObject({ status: 409, body: { error_code: "request_already_sent" } });
  expect(await ask(ben, ana)).toMatchObject({ status: 409, body: { error_code: "request_already_received" } });
  await answer(ben, (await requestsOf(ben)).received[0]?.id ?? "", "accept");
  for (const [from, to] of [
    [ana, ben],
    [ben, ana],
  ] as const) {
    expect(await ask(from, to)).toMatchObject({ status: 409, body: { error_code: "already_connected" } });
  }
});

test("a declined request is removed for both, and the person who declined may send one at once", async () => {
  const [ana, ben] = await twoPeople();
  const request = await askFor(ana, ben);
  expect(await answer(ben, request, "decline")).toMatchObject({
    status: 200,
    body: { state: "none", request_id: null },
  });
  expect(await requestsOf(ana)).toEqual({ sent: [], received: [], before: null });
  expect(idsOf(await contactsOf(ben))).toEqual([]);
  for (const decision of ["accept", "decline"] as const) {
    expect(await answer(ben, request, decision)).toMatchObject({
      status: 404,
      body: { error_code: "request_not_found" },
    });
  }
  expect(await ask(ana, ben)).toMatchObject({ status: 429, body: { error_code: "request_declined" } });
  expect((await ask(ben, ana)).status).toBe(200);
});

test("only the recipient of a request can answer it", async () => {
  const [ana, ben] = await twoPeople();
  const cid = await makePerson();
  const request = await askFor(ana, ben);
  const unknown = await answer(cid, createUuid(), "accept");
  expect(unknown).toMatchObject({ status: 404, body: { error_code: "request_not_found" } });
  for (const recipient of [ana, cid]) {
    for (const decision of ["accept", "decline"] as const) {
      const refused = await answer(recipient, request, decision);
      expect({ status: refused.status, body: refused.body }).toEqual({ status: 404, body: unknown.body });
    }
  }
  expect((await requestsOf(ben)).received).toHaveLength(1);
});

test("accepting twenty times at once creates one connection, with the same answer to all", async () => {
  const [ana, ben] = await twoPeople();
  const request = await askFor(ana, ben);
  const answers = await Promise.all(Array.from({ length: 20 }, () => answer(ben, request, "accept")));
  const connections = new Set(answers.map(({ body }) => (body as Relation).connection_id));
  expect(answers.map(({ status }) => status)).toEqual(Array.from({ length: 20 }, () => 200));
  expect(connections.size).toBe(1);
  expect(idsOf(await contactsOf(ana))).toEqual([ben.id]);
});

test("accepting and declining at once has one of the two results", async () => {
  const [ana, ben] = await twoPeople();
  const request = await askFor(ana, ben);
  const [accepted, declined] = await Promise.all([answer(ben, request, "accept"), answer(ben, request, "decline")]);
  expect([accepted.status, declined.status].sort()).toEqual([200, 404]);
  expect(idsOf(await contactsOf(ana))).toEqual(accepted.status === 200 ? [ben.id] : []);
});

test("two people who send requests to each other at the same moment have one request", async () => {
  for (let round = 0; round < 5; round++) {
    const [ana, ben] = await twoPeople();
    const answers = await Promise.all([ask(ana, ben), ask(ben, ana), ask(ana, ben), ask(ben, ana)]);
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 409, 409, 409]);
    const page = await requestsOf(ana);
    expect(page.sent.length + page.received.length).toBe(1);
  }
});

test("a deleted contact is removed for both, the request counts as declined, and a new one is possible", async () => {
  const [ana, ben] = await twoPeople();
  const request = await askFor(ana, ben);
  await answer(ben, request, "accept");
  expect(await remove(ana, ben)).toMatchObject({ status: 200, body: { state: "none", connection_id: null } });
  for (const person of [ana, ben]) expect(idsOf(await contactsOf(person))).toEqual([]);
  const row = await env.DB.prepare("SELECT status FROM connection_requests WHERE id = ?").bind(request).first();
  expect(row).toEqual({ status: "declined" });
  expect(await remove(ana, ben)).toMatchObject({ status: 404, body: { error_code: "contact_not_found" } });
  expect(await answer(ben, request, "accept")).toMatchObject({ status: 404 });
  await connectPeople(site, ben, ana);
  expect(idsOf(await contactsOf(ana))).toEqual([ben.id]);
});

test("nobody can delete the connection of two others", async () => {
  const [ana, ben] = await twoPeople();
  const cid = await makePerson();
  await connectPeople(site, ana, ben);
  for (const other of [ana, ben, cid]) expect((await remove(cid, other)).status).toBe(404);
  expect(idsOf(await contactsOf(ana))).toEqual([ben.id]);
});

test("an acceptance whose conversation cannot be opened becomes pending again, and can be repeated", async () => {
  const log = vi.spyOn(console, "error").mockImplementation(() => undefined);
  const [ana, ben] = await twoPeople();
  const request = await askFor(ana, ben);
  const closed: unknown[] = [];
  const CONVERSATION = overrideMethods(env.CONVERSATION, (id) => ({
    openConnection: () => Promise.reject(new Error("the object is overloaded")),
    closeConnection: async (connection: string) => void closed.push([id, connection]),
  }));
  const failed = await callWith({ CONVERSATION }, "POST", `/api/requests/${request}/accept`, { token: ben.token });
  expect(failed).toMatchObject({ status: 503, body: { error_code: "accept_failed" } });
  expect(closed).toEqual([[privateConversationId(ana.id, ben.id), expect.any(String)]]);
  for (const person of [ana, ben]) expect(idsOf(await contactsOf(person))).toEqual([]);
  expect((await requestsOf(ben)).received).toMatchObject([{ id: request, status: "pending" }]);

  expect(await answer(ben, request, "accept")).toMatchObject({ status: 200, body: { state: "contact" } });
  expect(idsOf(await contactsOf(ana))).toEqual([ben.id]);
  log.mockRestore();
});

test("a contact whose conversation cannot be closed stays a contact", async () => {
  const log = vi.spyOn(console, "error").mockImplementation(() => undefined);
  const [ana, ben] = await twoPeople();
  await connectPeople(site, ana, ben);
  const CONVERSATION = overrideMethods(env.CONVERSATION, { closeConnection: () => Promise.reject(new Error("gone")) });
  const failed = await callWith({ CONVERSATION }, "DELETE", `/api/contacts/${ben.id}`, { token: ana.token });
  expect(failed).toMatchObject({ status: 503, body: { error_code: "unavailable" } });
  expect(idsOf(await contactsOf(ben))).toEqual([ana.id]);
  log.mockRestore();
});

test("contacts and requests are listed in pages, complete and without duplicates", async () => {
  const ana = await makePerson();
  const now = Date.now();
  const others = Array.from({ length: contactPageRows + 5 }, (_, n) => ({ id: createUuid(now + n), n }));
  const insert = (sql: string, ...values: unknown[]) => env.DB.prepare(sql).bind(...values);
  await env.DB.batch(
    others.flatMap(({ id, n }) => {
      const phone = `+2439870000${String(n).padStart(2, "0")}`;
      const [first, second] = n % 2 ? [id, ana.id] : [ana.id, id];
      return [
        insert("INSERT INTO users VALUES (?1, ?2, '', 0, 0)", id, phone),
        insert("INSERT INTO profiles (id, username, phone, created_at) VALUES (?1, ?2, ?2, 0)", id, phone),
        insert(
          "INSERT INTO connections VALUES (?, ?, ?, ?, NULL, ?)",
          createUuid(now + n),
          first,
          second,
          privateConversationId(id, ana.id),
          now,
        ),
      ];
    }),
  );
  const first = await contactsOf(ana);
  expect(first.contacts).toHaveLength(contactPageRows);
  const { body } = await call("GET", `/api/contacts?after=${first.after}`, { token: ana.token });
  const second = body as ContactPage;
  expect(second.after).toBeNull();
  expect([...idsOf(first), ...idsOf(second)]).toEqual(others.map(({ id }) => id));
});

test.each([
  ["another field", { to_user_id: createUuid(), status: "accepted" }],
  ["a sender", { to_user_id: createUuid(), from_user_id: createUuid() }],
  ["no person", {}],
  ["a list of people", { to_user_id: [createUuid()] }],
  ["no id", { to_user_id: "x' OR 1=1" }],
])("a request with %s is refused", async (_, body) => {
  const ana = await makePerson();
  expect(await call("POST", "/api/requests", { token: ana.token, body })).toMatchObject({
    status: 400,
    body: { error_code: "invalid_input" },
  });
});
