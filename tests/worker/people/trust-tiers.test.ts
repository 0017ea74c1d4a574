import { env } from "cloudflare:workers";
import { afterEach, expect, test, vi } from "vitest";
import { createUuid, privateConversationId, type Uuid } from "#contract/ids.ts";
import type { Relation } from "#contract/people.ts";
import type { Audience } from "#contract/settings/settings.ts";
import { type Allowance, tierAllowances, tierBlocksMax, tierRefusalsMax } from "#contract/settings/trust-tiers.ts";
import type { Person } from "#tests/support/people/people.ts";
import { countDirectoryWork } from "#tests/worker/support/row-counter.ts";
import { makeTrusted, seedContacts, seedPerson, seedProfiles } from "#tests/worker/support/seeded-people.ts";
import { callRawWith, callWith, callWithLimits } from "#tests/worker/support/wrapped-site.ts";
import { createAbsentNumber } from "#worker/lib/absent-number.ts";
import { signAccessToken } from "#worker/lib/http/access-token.ts";
import { withAdapters } from "./numbers/number-proofs.ts";

/** Limits of reaching new people, by trust tier (docs/decisions/trust-tiers.md). */

type Seeded = Awaited<ReturnType<typeof seedPerson>>;

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;
const seed = (count: number) => Promise.all(Array.from({ length: count }, seedPerson));
const errorOf = ({ status, body }: { status: number; body: unknown }): string =>
  status < 300 ? "ok" : (body as { error_code: string }).error_code;
type Callers = typeof callWithLimits;
/** Requests and tiers, of people who cannot verify their number, or where everybody can. */
const makeActions = (call: Callers) => {
  const ask = (by: Pick<Person, "token">, to: Uuid) =>
    call("POST", "/api/requests", { token: by.token, body: { to_user_id: to } });
  const readAllowance = async (by: Pick<Person, "token">): Promise<Allowance> =>
    (await call("GET", "/api/allowance", { token: by.token })).body as Allowance;
  return {
    ask,
    readAllowance,
    askedBy: async (by: Pick<Person, "token">, to: Pick<Person, "id">): Promise<string> =>
      errorOf(await ask(by, to.id)),
    acceptFrom: async (by: Person, from: Person): Promise<void> => {
      const { request_id } = (await ask(from, by.id)).body as Relation;
      const accepted = await call("POST", `/api/requests/${request_id}/accept`, { token: by.token });
      expect(accepted.status).toBe(200);
    },
    tierOf: async (by: Person) => (await readAllowance(by)).tier,
  };
};
const verifying = { ...withAdapters(), LOCAL_LIMIT_FACTOR: "1" };
const callVerifying: Callers = (...request) => callWith(verifying, ...request);
const withVerification = makeActions(callVerifying);
const { ask, readAllowance, askedBy, tierOf } = makeActions(callWithLimits);
/** Sets the clock of the test and the Worker, also for the expiry of tokens. */
const setClock = (at: number) => vi.useFakeTimers({ toFake: ["Date"], now: at });
afterEach(() => {
  vi.useRealTimers();
});
/** The same person with a token that is valid now. */
const withToken = async <T extends Seeded>(person: T): Promise<T> => ({
  ...person,
  token: await signAccessToken(env, { sub: person.id, sid: person.session, gen: 0 }),
});
const setAge = (ids: readonly Uuid[], ageMs: number) =>
  env.DB.prepare("UPDATE profiles SET created_at = ? WHERE id IN (SELECT value FROM json_each(?))")
    .bind(Date.now() - ageMs, JSON.stringify(ids))
    .run();
const verify = ({ id }: Person) => env.DB.prepare("UPDATE profiles SET verified_at = 1 WHERE id = ?").bind(id).run();

test("spam to 1,000 strangers from 50 unverified accounts reaches at most 50 people per day", async () => {
  const [accounts, strangers] = [await seed(50), await seedProfiles(1_000)];
  // The accounts are each other's contacts, which raises nobody's tier.
  await env.DB.batch(
    accounts.map(({ id }, index) => {
      const next = accounts[(index + 1) % accounts.length]?.id ?? id;
      return env.DB.prepare("INSERT INTO connections VALUES (?, ?, ?, ?, NULL, ?)").bind(
        createUuid(),
        id,
        next,
        privateConversationId(id, next),
        Date.now(),
      );
    }),
  );
  const start = Date.now();
  /** People reached on a day. An account gives up when it is refused; the first one tries all its strangers. */
  const spam = async (day: number): Promise<number> => {
    setClock(start + day * (dayMs + hourMs));
    const reached = await Promise.all(
      accounts.map(async (account, index) => {
        const sender = await withToken(account);
        let count = 0;
        let refusals = 0;
        for (let n = 0; n < 20 && (index === 0 || refusals === 0); n++) {
          const stranger = strangers[index * 20 + ((n + day) % 20)];
          const isSent = stranger !== undefined && (await withVerification.ask(sender, stranger)).status === 200;
          if (isSent) count++;
          else refusals++;
        }
        return count;
      }),
    );
    return reached.reduce((sum, count) => sum + count, 0);
  };
  for (const day of [0, 4]) expect(await spam(day)).toBe(50);
});

test("a newcomer reaches their first friends: each who accepts, and everybody who typed the newcomer's number", async () => {
  const { readAllowance, askedBy, acceptFrom } = withVerification;
  const [ana, ...friends] = await seed(7);
  const [stranger, other] = await seed(2);
  if (!ana || !stranger || !other) throw new Error("nobody");
  for (const friend of friends.slice(0, 4)) await acceptFrom(friend, ana);
  expect((await readAllowance(ana)).requests).toEqual({ per_day: 1, left: 1 });
  expect(await askedBy(ana, stranger)).toBe("ok");
  const [knowing, alsoKnowing] = friends.slice(4);
  if (!knowing || !alsoKnowing) throw new Error("nobody");
  expect((await readAllowance(ana)).requests).toEqual({ per_day: 1, left: 0 });
  expect(await askedBy(ana, knowing)).toBe("requests_used_up");
  // They know the number, in any form in which one types it. Part of it is not enough.
  const search = (by: Person, phone: string) =>
    callVerifying("POST", "/api/people/search", { token: by.token, body: { phone } });
  await search(knowing, ana.phone.slice(0, -1));
  expect(await askedBy(ana, knowing)).toBe("requests_used_up");
  await search(knowing, ana.phone);
  await search(alsoKnowing, ana.phone.replace("+243", "0"));
  expect([await askedBy(ana, knowing), await askedBy(ana, alsoKnowing)]).toEqual(["ok", "ok"]);
  expect(await askedBy(ana, other)).toBe("requests_used_up");
  // A search of the day before counts no more.
  const third = await seedPerson();
  await search(third, ana.phone);
  setClock(Date.now() + dayMs + hourMs);
  const later = await withToken(ana);
  expect([await askedBy(later, other), await askedBy(later, third)]).toEqual(["ok", "requests_used_up"]);
});

test("the tier rises with age and with contacts whose accounts are not new", async () => {
  const ana = await seedPerson();
  const contacts = await seedContacts(ana, 5);
  await setAge([ana.id], 20 * dayMs);
  expect(await readAllowance(ana)).toMatchObject({ can_verify: false, requests: { per_day: 5 } });
  for (const [count, tier] of [
    [0, "confirmed"],
    [1, "confirmed"],
    [2, "known"],
    [4, "known"],
    [5, "trusted"],
  ] as const) {
    await setAge(contacts.slice(0, count), 8 * dayMs);
    expect(await tierOf(ana)).toBe(tier);
  }
  for (const [ageMs, tier] of [
    [13 * dayMs, "known"],
    [2 * dayMs, "confirmed"],
    [hourMs, "confirmed"],
  ] as const) {
    await setAge([ana.id], ageMs);
    expect(await tierOf(ana)).toBe(tier);
  }
  await verify(ana);
  expect(await tierOf(ana)).toBe("confirmed");
});

test("where numbers can be verified, an unverified one stays in the lowest tier, and contacts count if verified", async () => {
  const [ana, ben] = [await seedPerson(), await seedPerson()];
  await makeTrusted(ana);
  const { readAllowance: read } = withVerification;
  expect(await tierOf(ana)).toBe("trusted");
  expect(await read(ana)).toMatchObject({ tier: "new", can_verify: true, requests: { per_day: 1 } });
  await verify(ana);
  expect(await read(ana)).toMatchObject({ tier: "confirmed", can_verify: false });
  await env.DB.prepare(
    "UPDATE profiles SET verified_at = 1 WHERE id IN (SELECT user2_id FROM connections WHERE user1_id = ?)",
  )
    .bind(ana.id)
    .run();
  expect(await read(ana)).toMatchObject({ tier: "trusted" });
  expect(await read(ben)).toMatchObject({ tier: "new", can_verify: true });
  // Neither does having lost the number, or having claimed that of somebody else.
  await env.DB.prepare("UPDATE profiles SET phone = ?, verified_at = NULL WHERE id = ?")
    .bind(createAbsentNumber(ana.id), ana.id)
    .run();
  expect(await read(ana)).toMatchObject({ tier: "new", can_verify: true });
  expect(await tierOf(ana)).toBe("trusted");
});

test("many refusals lower the tier for a day", async () => {
  const ana = await seedPerson();
  await makeTrusted(ana);
  for (const other of await seed(tierRefusalsMax)) {
    expect(await tierOf(ana)).toBe("trusted");
    const { request_id } = (await ask(ana, other.id)).body as Relation;
    await callWithLimits("POST", `/api/requests/${request_id}/decline`, { token: other.token });
  }
  expect(await readAllowance(ana)).toMatchObject({ tier: "new", requests: { left: 0 } });
  setClock(Date.now() + dayMs + hourMs);
  expect(await tierOf(await withToken(ana))).toBe("trusted");
});

test("blocks by people who were asked lower the tier from the next day on; those of strangers never do", async () => {
  const ana = await seedPerson();
  await makeTrusted(ana);
  const [asked, strangers] = [await seed(tierBlocksMax), await seed(tierBlocksMax)];
  for (const other of asked) expect(await askedBy(ana, other)).toBe("ok");
  const block = (by: Person) => callWithLimits("PUT", `/api/blocks/${ana.id}`, { token: by.token });
  for (const stranger of strangers) await block(stranger);
  for (const other of asked.slice(1)) await block(other);
  const now = Date.now();
  setClock(now + 2 * dayMs);
  expect(await tierOf(await withToken(ana))).toBe("trusted");
  vi.useRealTimers();
  if (asked[0]) await block(asked[0]);
  expect(await tierOf(ana)).toBe("trusted");
  for (const [days, tier] of [
    [1, "new"],
    [29, "new"],
    [31, "trusted"],
  ] as const) {
    setClock(now + days * dayMs);
    expect(await tierOf(await withToken(ana))).toBe(tier);
  }
});

test("a newcomer's groups and statuses are few and small, with an error that says so; nothing is created twice", async () => {
  const ana = await seedPerson();
  const { groupMembersMax, groupsPerDay, postsPerDay } = tierAllowances.new;
  const contacts = await seedContacts(ana, groupMembersMax);
  const create = async (members: readonly Uuid[], id = createUuid()) =>
    callVerifying("POST", "/api/groups", { token: ana.token, body: { id, name: "Famille", members } });
  expect(errorOf(await create(contacts))).toBe("group_members_limited");
  const first = createUuid();
  expect(errorOf(await create(contacts.slice(0, groupMembersMax - 1), first))).toBe("ok");
  const add = callVerifying("POST", `/api/groups/${first}/members`, {
    token: ana.token,
    body: { members: contacts.slice(-1) },
  });
  expect(errorOf(await add)).toBe("group_members_limited");
  for (let n = 1; n < groupsPerDay; n++) expect(errorOf(await create(contacts.slice(0, 1)))).toBe("ok");
  expect(errorOf(await create(contacts.slice(0, 1)))).toBe("groups_used_up");
  // Created before: the same answer, not a refusal.
  expect(errorOf(await create(contacts.slice(0, groupMembersMax - 1), first))).toBe("ok");

  const post = async (id = createUuid(), audience?: Audience) => {
    const form = new FormData();
    form.set("post", JSON.stringify({ id, content: "Mbote", ...(audience && { audience }) }));
    const response = await callRawWith(verifying, "/api/tala", {
      method: "POST",
      headers: { authorization: `Bearer ${ana.token}` },
      body: form,
    });
    return errorOf({ status: response.status, body: await response.json() });
  };
  const published = createUuid();
  expect(await post(published)).toBe("ok");
  for (let n = 1; n < postsPerDay; n++) expect(await post()).toBe("ok");
  expect([await post(), await post(published)]).toEqual(["posts_used_up", "ok"]);
  // Statuses for contacts reach nobody new.
  expect(await post(createUuid(), "contacts")).toBe("ok");
});

test("people of the higher tiers create groups of any size", async () => {
  const ana = await seedPerson();
  await makeTrusted(ana);
  const members = await seedContacts(ana, tierAllowances.confirmed.groupMembersMax + 1);
  const body = { id: createUuid(), name: "Paroisse", members };
  expect(errorOf(await callWithLimits("POST", "/api/groups", { token: ana.token, body }))).toBe("ok");
});

test("the tier of somebody with many contacts, refusals and blocks costs a bounded number of rows", async () => {
  const ana = await seedPerson();
  const count = async () => {
    const { read } = await countDirectoryWork(() => readAllowance(ana));
    return read;
  };
  const grow = async (size: number) => {
    const now = Date.now();
    const ids = [...(await seedContacts(ana, size)), ...(await seedProfiles(size))];
    const refused = JSON.stringify(ids.slice(size).map((id) => ({ id: createUuid(now - 2 * dayMs), other: id })));
    await env.DB.batch([
      env.DB.prepare(
        `INSERT INTO connection_requests SELECT value->>'id', ?2, value->>'other',
           min(value->>'other', ?2) || '.' || max(value->>'other', ?2), 'declined', NULL, ?3, ?3 FROM json_each(?1)`,
      ).bind(refused, ana.id, now - 2 * dayMs),
      env.DB.prepare(`INSERT INTO blocks SELECT value->>'other', ?2, NULL, ?3, 'Nadia', '', NULL, NULL, 'everyone', 'contacts', 0
           FROM json_each(?1)`).bind(refused, ana.id, now - 2 * dayMs),
    ]);
  };
  await grow(150);
  const first = await count();
  await grow(600);
  const second = await count();
  expect(first).toBeLessThan(500);
  expect(second).toBeLessThanOrEqual(first + 10);
});

test("where numbers can be verified, accounts with invented numbers of other countries do not raise each other", async () => {
  const { tierOf } = withVerification;
  const abroad = await seedPerson();
  const contacts = await seedContacts(abroad, 5);
  const strangers = await seedProfiles(2);
  await env.DB.prepare(
    "UPDATE profiles SET phone = '+9995' || substr(phone, -8) WHERE id IN (SELECT value FROM json_each(?))",
  )
    .bind(JSON.stringify([abroad.id, ...contacts]))
    .run();
  await setAge([abroad.id, ...contacts], 20 * dayMs);
  expect(await tierOf(abroad)).toBe("new");
  for (const [n, to] of strangers.entries())
    expect(errorOf(await withVerification.ask(abroad, to))).toBe(n === 0 ? "ok" : "requests_used_up");
  // Verified relatives raise somebody who cannot verify their own number.
  for (const id of contacts) await env.DB.prepare("UPDATE profiles SET verified_at = 1 WHERE id = ?").bind(id).run();
  expect(await tierOf(abroad)).toBe("trusted");
});
