import { env } from "cloudflare:workers";
import { expect, test, vi } from "vitest";
import type { BlockList, RequestPage } from "#contract/contacts.ts";
import { createUuid, privateConversationId } from "#contract/ids.ts";
import { blockPageRows } from "#contract/limits/people.ts";
import type { Profile, Relation } from "#contract/people.ts";
import { connectPeople, type Person } from "#tests/support/people/people.ts";
import { decodePerson } from "#tests/support/wire-frames.ts";
import { request as command, Device, readRow, sendTexts, waitUntil } from "#tests/worker/support/device.ts";
import { call, drainBucket, makePerson, site } from "#tests/worker/support/site.ts";
import { callWith, overrideMethods } from "#tests/worker/support/wrapped-site.ts";

const block = (by: Person, other: { id: string }) => call("PUT", `/api/blocks/${other.id}`, { token: by.token });
const unblock = (by: Person, other: { id: string }) => call("DELETE", `/api/blocks/${other.id}`, { token: by.token });
const listOf = async (by: Person, query = "") =>
  (await call("GET", `/api/blocks${query}`, { token: by.token })).body as BlockList;
const blockedBy = async (by: Person) => (await listOf(by)).blocked.map(({ id }) => id);
const ask = (from: Person, to: Person) =>
  call("POST", "/api/requests", { token: from.token, body: { to_user_id: to.id } });
const answer = (by: Person, request: string | null, decision: "accept" | "decline") =>
  call("POST", `/api/requests/${request}/${decision}`, { token: by.token });
const requestsOf = async (by: Person) => (await call("GET", "/api/requests", { token: by.token })).body as RequestPage;
const stateOf = async (by: Person, of: Person) => {
  const { body } = await call("POST", "/api/people/search", { token: by.token, body: { phone: of.phone } });
  return (body as { state: string }[])[0]?.state;
};
const heardOf = async (by: Person, of: Person): Promise<Relation | undefined> => {
  const { people } = await command(by, { type: "changes", since: 0 });
  return people.find(({ profile }) => profile.id === of.id);
};
const twoPeople = async () => [await makePerson(), await makePerson()] as const;
const contacts = async () => {
  const [ana, ben] = await twoPeople();
  await connectPeople(site, ana, ben);
  await waitUntil(async () => (await heardOf(ana, ben))?.state === "contact");
  await waitUntil(async () => (await heardOf(ben, ana))?.state === "contact");
  const id = privateConversationId(ana.id, ben.id);
  for (const one of [ana, ben]) await waitUntil(async () => (await readRow(one, id)).open);
  return [ana, ben] as const;
};

/** Conversations that record block notices, and process them unless `fails`. */
const listenTo = (fails: (isBlocked: boolean) => boolean = () => false) => {
  const notices: boolean[] = [];
  const CONVERSATION = overrideMethods(env.CONVERSATION, {
    setBlocked: async (_: string, isBlocked: boolean) => {
      notices.push(isBlocked);
      if (fails(isBlocked)) throw new Error("the object is overloaded");
    },
  });
  return { notices, CONVERSATION };
};

/** Directory that refuses a batch with such a statement. */
const failBatches = (pattern: RegExp) =>
  new Proxy(env.DB, {
    get: (database, name) => {
      const value: unknown = Reflect.get(database, name);
      if (name !== "batch") return typeof value === "function" ? value.bind(database) : value;
      return (statements: { statement: string }[]) => {
        if (statements.some(({ statement }) => pattern.test(statement))) throw new Error("the directory is away");
        return database.batch(statements as unknown as D1PreparedStatement[]);
      };
    },
  });

test("a blocked contact stays a contact, is listed as blocked until unblocked, and both commands can be repeated", async () => {
  const [ana, ben] = await contacts();
  for (let i = 0; i < 2; i++) {
    const blocked = await block(ana, ben);
    expect(blocked).toMatchObject({ status: 200, body: { state: "contact", blocked: true, profile: { id: ben.id } } });
    expect(await listOf(ana)).toMatchObject({ blocked: [{ id: ben.id, phone: ben.phone }], before: null });
  }
  expect(await blockedBy(ben)).toEqual([]);
  for (let i = 0; i < 2; i++) {
    expect(await unblock(ana, ben)).toMatchObject({ status: 200, body: { state: "contact", blocked: false } });
    expect(await listOf(ana)).toEqual({ blocked: [], before: null });
  }
});

test("a stranger can be blocked; oneself and unknown people cannot", async () => {
  const [ana, ben] = await twoPeople();
  expect(await block(ana, ben)).toMatchObject({ status: 200, body: { state: "none", blocked: true } });
  expect((await call("GET", `/api/users/${ben.id}`, { token: ana.token })).status).toBe(200);
  for (const change of [block, unblock]) {
    expect(await change(ana, ana)).toMatchObject({ status: 400, body: { error_code: "invalid_input" } });
    const nobody = { id: createUuid() };
    expect(await change(ana, nobody)).toMatchObject({ status: 404, body: { error_code: "user_not_found" } });
    expect((await change(ana, { id: "x' OR 1=1" })).status).toBe(400);
  }
  expect(await blockedBy(ana)).toEqual([ben.id]);
});

test("the list of blocked people has pages, newest first and complete", async () => {
  const ana = await makePerson();
  const others = await Promise.all(Array.from({ length: blockPageRows + 3 }, makePerson));
  await Promise.all(others.slice(1).map((other) => block(ana, other)));
  await block(ana, others[0] as Person);
  const first = await listOf(ana);
  expect(first.blocked).toHaveLength(blockPageRows);
  expect(first.blocked[0]?.id).toBe(others[0]?.id);
  const second = await listOf(ana, `?before=${first.before}`);
  expect(second.before).toBeNull();
  const ids = [...first.blocked, ...second.blocked].map(({ id }) => id);
  expect(ids.sort()).toEqual(others.map(({ id }) => id).sort());
  expect((await call("GET", "/api/blocks?before=x", { token: ana.token })).status).toBe(400);
});

test("the own devices receive a block and its end, and nobody else's do", async () => {
  const [ana, ben] = await contacts();
  const [phone, other] = [await Device.open(ana), await Device.open(ben)];
  const heard = other.raw.length;
  await block(ana, ben);
  expect(decodePerson((await phone.nextOf("p"))[2])).toMatchObject({ profile: { id: ben.id }, blocked: true });
  await unblock(ana, ben);
  expect(decodePerson((await phone.nextOf("p"))[2])).toMatchObject({ profile: { id: ben.id }, blocked: false });
  await scheduler.wait(100);
  expect(other.raw.length).toBe(heard);
  const waiting = env.DB.prepare("SELECT count(*) AS n FROM pending_relations WHERE user_id IN (?, ?)");
  await waitUntil(async () => (await waiting.bind(ana.id, ben.id).first("n")) === 0);
});

test("a blocked stranger is not notified at the end either", async () => {
  const [ana, ben] = await twoPeople();
  const phone = await Device.open(ben);
  const heard = phone.raw.length;
  await block(ana, ben);
  await unblock(ana, ben);
  await waitUntil(async () => (await heardOf(ana, ben))?.blocked === false);
  await scheduler.wait(100);
  expect(phone.raw.length).toBe(heard);
  expect(await heardOf(ben, ana)).toBeUndefined();
});

test("a block that the conversation cannot be notified of is undone, and can be repeated", async () => {
  const log = vi.spyOn(console, "error").mockImplementation(() => undefined);
  const [ana, ben] = await contacts();
  const { notices, CONVERSATION } = listenTo(() => true);
  const failed = await callWith({ CONVERSATION }, "PUT", `/api/blocks/${ben.id}`, { token: ana.token });
  expect(failed).toMatchObject({ status: 503, body: { error_code: "unavailable" } });
  // The conversation may be blocked although it did not answer, so its end is notified too.
  expect(notices).toEqual([true, false]);
  expect(await blockedBy(ana)).toEqual([]);
  expect((await block(ana, ben)).body).toMatchObject({ blocked: true });
  log.mockRestore();
});

test("a block that the directory does not store is not made in the conversation either", async () => {
  const log = vi.spyOn(console, "error").mockImplementation(() => undefined);
  const [ana, ben] = await contacts();
  const { notices, CONVERSATION } = listenTo();
  const changed = { CONVERSATION, DB: failBatches(/insert into "blocks"/) };
  const failed = await callWith(changed, "PUT", `/api/blocks/${ben.id}`, { token: ana.token });
  expect(failed.status).toBe(500);
  expect(notices).toEqual([]);
  await sendTexts(ben, privateConversationId(ana.id, ben.id), "Tu es là ?");
  await waitUntil(async () => (await readRow(ana, privateConversationId(ana.id, ben.id))).unread === 1);
  log.mockRestore();
});

test.each([
  ["a block", true],
  ["the end of a block", false],
] as const)("%s that stopped halfway reaches the conversation with the next socket", async (_, isBlocked) => {
  const log = vi.spyOn(console, "error").mockImplementation(() => undefined);
  const [ana, ben] = await contacts();
  const id = privateConversationId(ana.id, ben.id);
  if (!isBlocked) await block(ana, ben);
  const { CONVERSATION } = listenTo(() => true);
  // Neither the conversation nor, afterwards, the directory can be reached, so that nothing is undone.
  const DB = failBatches(isBlocked ? /delete from "blocks"/ : /insert into "blocks"/);
  const failed = await callWith({ CONVERSATION, DB }, isBlocked ? "PUT" : "DELETE", `/api/blocks/${ben.id}`, {
    token: ana.token,
  });
  expect(failed.status).toBe(500);
  expect(await blockedBy(ana)).toEqual(isBlocked ? [ben.id] : []);

  await Device.open(ana);
  await sendTexts(ben, id, "Mbote");
  const { head } = await readRow(ben, id);
  await waitUntil(async () => (await readRow(ana, id)).head === (isBlocked ? 0 : head));
  await scheduler.wait(isBlocked ? 100 : 0);
  expect((await readRow(ana, id)).unread).toBe(isBlocked ? 0 : 1);
  log.mockRestore();
});

test("the end of a block that never was is answered as for nobody, and calls no conversation", async () => {
  const [ana, ben, cal] = [await makePerson(), await makePerson(), await makePerson()];
  await connectPeople(site, ana, cal);
  await call("DELETE", `/api/contacts/${cal.id}`, { token: ana.token });
  const { notices, CONVERSATION } = listenTo();
  const end = (id: string) => callWith({ CONVERSATION }, "DELETE", `/api/blocks/${id}`, { token: ana.token });
  const nobody = await end(createUuid());
  expect(nobody).toMatchObject({ status: 404, body: { error_code: "user_not_found" } });
  // A stranger, and a former contact.
  for (const { id } of [ben, cal]) expect(await end(id)).toMatchObject({ status: 404, body: nobody.body });
  expect(notices).toEqual([]);
});

test("an unblocking that the conversation cannot be notified of leaves the block as it was", async () => {
  const log = vi.spyOn(console, "error").mockImplementation(() => undefined);
  const [ana, ben] = await contacts();
  await block(ana, ben);
  const row = () => env.DB.prepare("SELECT * FROM blocks WHERE user_id = ?").bind(ana.id).first();
  const before = await row();
  const { notices, CONVERSATION } = listenTo((isBlocked) => !isBlocked);
  const failed = await callWith({ CONVERSATION }, "DELETE", `/api/blocks/${ben.id}`, { token: ana.token });
  expect(failed).toMatchObject({ status: 503, body: { error_code: "unavailable" } });
  expect(notices).toEqual([false, true]);
  expect(await row()).toEqual(before);
  expect((await unblock(ana, ben)).body).toMatchObject({ blocked: false });
  log.mockRestore();
});

test("when two devices block and unblock at once, the conversation ends as the directory does", async () => {
  const [ana, ben] = await contacts();
  await block(ana, ben);
  const notices: boolean[] = [];
  let blockAgain: Promise<unknown> | undefined;
  const CONVERSATION = overrideMethods(env.CONVERSATION, {
    setBlocked: async (_: string, isBlocked: boolean) => {
      // The other device's block overtakes the unblocking on its way to the conversation.
      if (!isBlocked && !blockAgain) {
        blockAgain = callWith({ CONVERSATION }, "PUT", `/api/blocks/${ben.id}`, { token: ana.token });
        await blockAgain;
      }
      notices.push(isBlocked);
    },
  });
  const ended = await callWith({ CONVERSATION }, "DELETE", `/api/blocks/${ben.id}`, { token: ana.token });
  expect(ended).toMatchObject({ status: 200, body: { blocked: true } });
  expect(notices.slice(notices.indexOf(false) + 1)).toContain(true);
  expect(notices.at(-1)).toBe(true);
  expect(await blockedBy(ana)).toEqual([ben.id]);
});

test("a request of a blocked person is answered as usual and stays hidden until they are unblocked", async () => {
  const [ana, ben] = await twoPeople();
  await block(ana, ben);
  const phone = await Device.open(ana);
  const asked = await ask(ben, ana);
  expect(asked).toMatchObject({ status: 200, body: { state: "sent", blocked: false } });
  expect((await ask(ben, ana)).body).toMatchObject({ error_code: "request_already_sent" });
  expect(await requestsOf(ana)).toEqual({ received: [], sent: [], before: null });
  expect(await stateOf(ana, ben)).toBe("none");
  expect((await heardOf(ana, ben))?.state).toBe("none");
  expect((await requestsOf(ben)).sent).toHaveLength(1);
  expect(phone.counters).toEqual([]);

  expect((await unblock(ana, ben)).body).toMatchObject({ state: "received", blocked: false });
  expect((await requestsOf(ana)).received).toMatchObject([{ from_user_id: ben.id, status: "pending" }]);
  await phone.nextOf("p");
  expect((await answer(ana, (asked.body as Relation).request_id, "accept")).body).toMatchObject({ state: "contact" });
});

test("a request from before the block is hidden with it, and its sender sees no change", async () => {
  const [ana, ben] = await twoPeople();
  const { request_id } = (await ask(ben, ana)).body as Relation;
  const seen = await requestsOf(ben);
  expect((await block(ana, ben)).body).toMatchObject({ state: "none", request_id: null, blocked: true });
  expect((await requestsOf(ana)).received).toEqual([]);
  expect(await requestsOf(ben)).toEqual(seen);
  const refused = { status: 403, body: { error_code: "contact_blocked" } };
  expect(await answer(ana, request_id, "accept")).toMatchObject(refused);
  expect(await ask(ana, ben)).toMatchObject(refused);
  expect(await requestsOf(ben)).toEqual(seen);
  await unblock(ana, ben);
  expect((await answer(ana, request_id, "accept")).status).toBe(200);
});

test("a blocked person may accept an earlier request of the blocker, who then sees a blocked contact", async () => {
  const [ana, ben] = await twoPeople();
  const { request_id } = (await ask(ana, ben)).body as Relation;
  expect((await block(ana, ben)).body).toMatchObject({ state: "sent", blocked: true });
  expect((await answer(ben, request_id, "accept")).body).toMatchObject({ state: "contact", blocked: false });
  await waitUntil(async () => (await heardOf(ana, ben))?.state === "contact");
  expect(await heardOf(ana, ben)).toMatchObject({ blocked: true });
});

test("a contact can be removed from either side while one blocks the other, and the block stays", async () => {
  for (const side of ["blocker", "blocked"] as const) {
    const [ana, ben] = await contacts();
    await block(ana, ben);
    const [by, other] = side === "blocker" ? [ana, ben] : [ben, ana];
    const removed = await call("DELETE", `/api/contacts/${other.id}`, { token: by.token });
    expect(removed).toMatchObject({ status: 200, body: { state: "none", blocked: side === "blocker" } });
    await waitUntil(async () => (await heardOf(ben, ana))?.state === "none");
    expect(await heardOf(ana, ben)).toMatchObject({ state: "none", blocked: true });
    expect(await blockedBy(ana)).toEqual([ben.id]);
  }
});

test("two people may block each other, and each removes only their own block", async () => {
  const [ana, ben] = await contacts();
  await Promise.all([block(ana, ben), block(ben, ana)]);
  expect((await unblock(ana, ben)).body).toMatchObject({ blocked: false });
  expect([await blockedBy(ana), await blockedBy(ben)]).toEqual([[], [ana.id]]);
  const found = (await call("GET", "/api/contacts", { token: ana.token })).body as { contacts: Profile[] };
  expect(found.contacts.map(({ id }) => id)).toEqual([ben.id]);
});

test("too many blocks are refused with the time to wait", async () => {
  const [ana, ben] = await contacts();
  await drainBucket("block_by_user", ana.id);
  for (const change of [block, unblock]) {
    expect(await change(ana, ben)).toMatchObject({ status: 429, body: { error_code: "rate_limited" } });
  }
  expect((await block(ben, ana)).status).toBe(200);
});
