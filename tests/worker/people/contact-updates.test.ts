import { env } from "cloudflare:workers";
import { sql } from "drizzle-orm";
import { expect, test, vi } from "vitest";
import type { Relation } from "#contract/people.ts";
import { connectPeople, type Person } from "#tests/support/people/people.ts";
import { makePerson, site } from "#tests/worker/support/site.ts";
import { callWith, overrideMethods } from "#tests/worker/support/wrapped-site.ts";
import { insertConnectionRequest } from "#worker/contacts/queries.ts";
import { openDb } from "#worker/db/client.ts";
import { listRelations } from "#worker/db/relations.ts";
import { pushPendingRelations } from "#worker/lib/contact-updates.ts";

type Told = { user: string; other: string; state: string; username: string };

/** Channels that record their notices; `answer` may refuse or delay. */
const listenTo = (answer: (user: string) => Promise<void> = async () => undefined) => {
  const notices: Told[] = [];
  const USER_CHANNEL = overrideMethods(env.USER_CHANNEL, (user) => ({
    updateRelations: async (relations: Relation[]) => {
      await answer(user);
      for (const { profile, state } of relations)
        notices.push({ user, other: profile.id, state, username: profile.username });
    },
  }));
  return { notices, USER_CHANNEL };
};

const waiting = async (person: Person) =>
  (await env.DB.prepare("SELECT other_id FROM pending_relations WHERE user_id = ?").bind(person.id).all()).results
    .length;
const twoPeople = async () => [await makePerson(), await makePerson()] as const;

test("both people receive every change of their relation", async () => {
  const [ana, ben] = await twoPeople();
  const { notices, USER_CHANNEL } = listenTo();
  const change = (by: Person, method: string, path: string, body?: object) =>
    callWith({ USER_CHANNEL }, method, path, { token: by.token, body });
  const heard = () => {
    const states = Object.fromEntries(notices.map(({ user, state }) => [user === ana.id ? "ana" : "ben", state]));
    notices.length = 0;
    return states;
  };

  const asked = await change(ana, "POST", "/api/requests", { to_user_id: ben.id });
  expect(heard()).toEqual({ ana: "sent", ben: "received" });
  const { request_id } = asked.body as Relation;
  await change(ben, "POST", `/api/requests/${request_id}/decline`);
  expect(heard()).toEqual({ ana: "none", ben: "none" });
  const again = await change(ben, "POST", "/api/requests", { to_user_id: ana.id });
  await change(ana, "POST", `/api/requests/${(again.body as Relation).request_id}/accept`);
  expect(heard()).toEqual({ ana: "contact", ben: "contact" });
  await change(ben, "DELETE", `/api/contacts/${ana.id}`);
  expect(heard()).toEqual({ ana: "none", ben: "none" });
  expect([await waiting(ana), await waiting(ben)]).toEqual([0, 0]);
});

test("a new name reaches contacts, pending requests and its own person's devices, and nobody else", async () => {
  const [ana, ben, cid, dan] = [await makePerson(), await makePerson(), await makePerson(), await makePerson()];
  await connectPeople(site, ana, ben);
  await callWith({}, "POST", "/api/requests", { token: cid.token, body: { to_user_id: ana.id } });
  const { notices, USER_CHANNEL } = listenTo();
  const body = { username: "Ana Nouvelle" };
  await callWith({ USER_CHANNEL }, "PATCH", "/api/profile", { token: ana.token, body });
  expect(notices.map(({ user }) => user).sort()).toEqual([ana.id, ben.id, cid.id].sort());
  for (const { other, username } of notices)
    expect({ other, username }).toEqual({ other: ana.id, username: "Ana Nouvelle" });
  expect(await waiting(dan)).toBe(0);
});

test("a notice that a channel could not receive is stored, delays no other, and is delivered on request", async () => {
  const log = vi.spyOn(console, "error").mockImplementation(() => undefined);
  const [ana, ben] = await twoPeople();
  const deaf = listenTo(async (user) => {
    if (user === ben.id) throw new Error("the object is overloaded");
  });
  const asked = await callWith({ USER_CHANNEL: deaf.USER_CHANNEL }, "POST", "/api/requests", {
    token: ana.token,
    body: { to_user_id: ben.id },
  });
  expect(asked.status).toBe(200);
  expect(deaf.notices).toMatchObject([{ user: ana.id, state: "sent" }]);
  expect([await waiting(ana), await waiting(ben)]).toEqual([0, 1]);

  const { notices, USER_CHANNEL } = listenTo();
  await pushPendingRelations({ ...env, USER_CHANNEL } as unknown as Env, ben.id);
  expect(notices).toMatchObject([{ user: ben.id, other: ana.id, state: "received" }]);
  expect(await waiting(ben)).toBe(0);
  log.mockRestore();
});

test("a change during the notification of a channel is delivered too", async () => {
  const [ana, ben] = await twoPeople();
  const silent = listenTo(() => Promise.reject(new Error("away")));
  const log = vi.spyOn(console, "error").mockImplementation(() => undefined);
  const asked = await callWith({ USER_CHANNEL: silent.USER_CHANNEL }, "POST", "/api/requests", {
    token: ana.token,
    body: { to_user_id: ben.id },
  });
  let isFirst = true;
  const { notices, USER_CHANNEL } = listenTo(async () => {
    if (!isFirst) return;
    isFirst = false;
    const path = `/api/requests/${(asked.body as Relation).request_id}/decline`;
    await callWith({ USER_CHANNEL: silent.USER_CHANNEL }, "POST", path, { token: ben.token });
  });
  const listening = { ...env, USER_CHANNEL } as unknown as Env;
  await pushPendingRelations(listening, ben.id);
  expect(notices.map(({ state }) => state)).toEqual(["received", "none"]);
  expect(await waiting(ben)).toBe(0);
  log.mockRestore();
});

test("a state read before a change and delivered after it is corrected", async () => {
  const [ana, ben] = await twoPeople();
  const silent = listenTo(() => Promise.reject(new Error("away")));
  const log = vi.spyOn(console, "error").mockImplementation(() => undefined);
  const asked = await callWith({ USER_CHANNEL: silent.USER_CHANNEL }, "POST", "/api/requests", {
    token: ana.token,
    body: { to_user_id: ben.id },
  });
  const path = `/api/requests/${(asked.body as Relation).request_id}/decline`;
  let isFirst = true;
  const { notices, USER_CHANNEL } = listenTo(async () => {
    if (!isFirst) return;
    isFirst = false;
    // The change and all its notices overtake this one.
    await callWith({ USER_CHANNEL }, "POST", path, { token: ben.token });
  });
  await pushPendingRelations({ ...env, USER_CHANNEL } as unknown as Env, ben.id);
  const heard = notices.filter(({ user }) => user === ben.id).map(({ state }) => state);
  expect(heard).toEqual(["none", "received", "none"]);
  expect(await waiting(ben)).toBe(0);
  log.mockRestore();
});

test("each of many simultaneous changes is delivered, with no more notices than changes", async () => {
  const count = 24;
  const ana = await makePerson();
  const others = await Promise.all(Array.from({ length: count }, makePerson));
  // More than may be pending for one person; inserted without the limit.
  const requests = await Promise.all(
    others.map((other) => insertConnectionRequest(openDb(env), other.id, ana.id, sql`1`)),
  );
  let times = 0;
  const { notices, USER_CHANNEL } = listenTo(async (user) => {
    if (user === ana.id) times++;
    await scheduler.wait(20); // long enough for concurrent requests to report the same
  });
  await Promise.all(
    requests.map((id) => callWith({ USER_CHANNEL }, "POST", `/api/requests/${id}/accept`, { token: ana.token })),
  );
  const last = new Map(notices.filter(({ user }) => user === ana.id).map(({ other, state }) => [other, state]));
  expect([...last.values()]).toEqual(Array.from({ length: count }, () => "contact"));
  expect(last.size).toBe(count);
  expect(times).toBeLessThanOrEqual(count);
  expect(await waiting(ana)).toBe(0);
});

test("a refused change notifies nobody", async () => {
  const [ana, ben] = await twoPeople();
  await connectPeople(site, ana, ben);
  const { notices, USER_CHANNEL } = listenTo();
  await callWith({ USER_CHANNEL }, "POST", "/api/requests", { token: ana.token, body: { to_user_id: ben.id } });
  expect(notices).toEqual([]);
});

test("a relation is read by an index, however many connections there are", async () => {
  const [ana, ben] = await twoPeople();
  await connectPeople(site, ana, ben);
  const relations = await listRelations(openDb(env), ana.id, [ben.id]);
  expect(relations).toMatchObject([{ state: "contact", profile: { id: ben.id } }]);
  for (const table of ["connections", "connection_requests"]) {
    const plan = await env.DB.prepare(
      `EXPLAIN QUERY PLAN SELECT * FROM ${table} WHERE conversation_id IN ('a', 'b')`,
    ).all();
    expect(JSON.stringify(plan.results)).toContain("SEARCH");
  }
});
